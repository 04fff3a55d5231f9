/* SPDX-License-Identifier: Apache-2.0 */
/* An exec keeps the pid and its CPU clock, and drops everything else: the new program's agent
   registers as a new process.  While it waits for the answer, its clock is read.  That time belongs
   to the earlier program, and the later program's account begins there, so no time counts twice or
   is lost.

   The process may hold slots in its own ring, or in the ring of the parent that forked it.  Their
   threads are gone, so the slots are drained and freed here, because the kernel will reuse the
   tids.  If perf samples the process, nothing ends: perf continues, and has recorded the exec. */
#include "before_exec.h"
#include "ladder.h"
#include "sweep.h"

#include "drain/recorder.h"
#include "proc/proc_stat.h"
#include "targets/children.h"

static bool is_of(const struct target *target, pid_t pid) {
  struct proc_stat stat;
  if (target->held.kind != HOLD_TIMER || target->held.pid != pid) return false;
  return proc_stat_read(pid, &stat) == 0 && stat.start_ticks == target->held.start_ticks;
}

/* The target of PID until its exec: as the registered program, or as a sampled child. */
static struct target *find_before(const struct worker *worker, pid_t pid) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target != NULL && is_of(target, pid)) return target;
  }
  const struct process *child = processes_find(worker->processes, pid);
  struct target *parents = child ? targets_find(&worker->targets, child->target) : NULL;
  bool is_child = parents != NULL && parents->held.kind == HOLD_TIMER && parents->held.pid != pid;
  return is_child ? parents : NULL;
}

/* Charges the CPU time of PID, which waits for the answer, to its earlier program.  Returns the
   part that the new program is not charged for. */
static uint64_t bill_before(const struct worker *worker, pid_t pid) {
  uint64_t cpu_ns = proc_cpu_ns(pid);
  struct target *before = find_before(worker, pid);
  if (before != NULL) {
    uint64_t begin_ns = before->held.pid == pid ? before->held.begin_cpu_ns : 0;
    before->exit.execed_ns += cpu_ns > begin_ns ? cpu_ns - begin_ns : 0;
  }
  return exit_bill_begin_ns(cpu_ns, before != NULL);
}

/* Ends the ring of the earlier program.  Perf continues, and has recorded the exec. */
static uint64_t end_behind(struct worker *worker, pid_t pid) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.behind == 0 || target->held.pid != pid) continue;
    bool is_unused = drain_reclaim_slots(target, pid) == 0;
    children_forget(target, pid);
    if (is_unused && !children_live(target)) sweep_end_target(worker, target);
  }
  return proc_cpu_ns(pid);
}

uint64_t before_exec_end(struct worker *worker, pid_t pid) {
  drain_run(&worker->drain);
  if (ladder_cover(worker, pid) != NULL) return end_behind(worker, pid);
  uint64_t begin_cpu_ns = bill_before(worker, pid);
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.kind != HOLD_TIMER) continue;
    bool is_unused = target->held.collect != RING_RECORDER ? drain_reclaim_slots(target, pid) == 0
                                                           : recorder_reclaim(target, pid) == 0;
    children_forget(target, pid);
    if (is_unused && target->held.pid == pid && !children_live(target))
      sweep_end_target(worker, target);
  }
  processes_forget_pid(worker->processes, pid);
  return begin_cpu_ns;
}
