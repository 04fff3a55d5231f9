/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a perf target on a running program.  No event has counted its CPU time so far.  If it has
   just begun, that is its start-up and belongs to its total.  If another sampler was active before,
   that time is in its account, and the new account begins now.

      total     = time spent before + events' count         (residual.h)
      reported  = total - base,  base = the time in other accounts

   A process's clocks in /proc include children that it has waited for; these belong to other
   accounts. */
#include "ladder.h"
#include "registrar.h"
#include "run_note.h"

#include "common/clock.h"
#include "targets/children.h"
#include "targets/claim.h"
#include "targets/perf_running.h"

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

static uint64_t minus(uint64_t a, uint64_t b) {
  return a > b ? a - b : 0;
}

static void describe(struct worker *worker, const struct ladder_wish *wish,
                     struct hold_target *ret) {
  *ret = *wish->held;
  ret->kind = HOLD_PERF;
  ret->id = worker->targets.next_id++;
  ret->pid = wish->running->processes[0].pid;
  ret->start_ticks = wish->running->processes[0].start_ticks;
  ret->adopted_ns = clock_boottime_ns();
  ret->set_period_ns = 0;
  ret->clock = ret->behind = 0;
  ret->control = RING_RUN;
  ret->is_killed = ret->is_apart = ret->has_paused = false;
  ret->is_file = 0;
}

uint64_t ladder_spent_ns(const struct perf_running *running) {
  uint64_t spent_ns = 0;
  for (unsigned i = 0; i < running->count; i++) spent_ns += proc_cpu_ns(running->processes[i].pid);
  return spent_ns;
}

static void know_processes(struct worker *worker, const struct target *target,
                           const struct ladder_wish *wish) {
  const struct perf_running *running = wish->running;
  for (unsigned i = 0; i < running->count; i++) {
    pid_t pid = running->processes[i].pid;
    struct process *process = processes_get(worker->processes, pid, target->held.id, -1);
    if (process != NULL && i == 0) process->is_root = true;
    if (process != NULL && wish->is_fresh) process_has_begun(process);
  }
}

static void begin_account(struct worker *worker, struct target *target,
                          const struct ladder_wish *wish) {
  struct processes_sum sum;
  struct residual *residual = &target->residual;
  bool is_all = wish->explained_ns == UINT64_MAX;
  know_processes(worker, target, wish);
  uint64_t own_ns = ladder_spent_ns(wish->running);
  processes_sum_target(worker->processes, target->held.id, &sum);
  const struct process *root = processes_find(worker->processes, target->held.pid);
  target->held.start_cpu_ns = larger(own_ns, sum.cpu_ns);
  residual_count(residual, target->held.start_cpu_ns);
  residual->steal.has_no_base = true;
  residual->kernel_ns = sum.system_ns;
  residual_rebase(residual);
  if (is_all) return;
  uint64_t ours_ns = minus(own_ns, wish->explained_ns);
  residual->base_total_ns = minus(residual->total_ns, ours_ns);
  if (root != NULL && wish->is_fresh)
    residual->base_kernel_ns = minus(residual->kernel_ns, root->time.system_ns);
}

struct target *ladder_adopt(struct worker *worker, const struct ladder_wish *wish,
                            const char **ret_fault) {
  struct hold_target held;
  int fds[INTAKE_FDS_MAX];
  *ret_fault = "256 targets, or 192 of one user, are profiled already";
  if (!registrar_has_room(worker, wish->held->uid, 0)) return NULL;
  describe(worker, wish, &held);
  *ret_fault = registrar_check_events(worker, held.uid, INTAKE_FDS_MAX);
  if (*ret_fault == NULL)
    *ret_fault = perf_running_open(&worker->keeper->perf, wish->running, &held, fds);
  if (*ret_fault != NULL) return NULL;
  struct target *target = registrar_take(worker, &held, fds);
  if (target == NULL) {
    hold_close_fds(&held, fds);
    *ret_fault = "the perf events could not be taken over";
    return NULL;
  }
  begin_account(worker, target, wish);
  run_note_join(worker, target);
  return target;
}

struct gather {
  const struct target *target;
  struct perf_running *running;
};

static void add(struct perf_running *running, pid_t pid) {
  struct proc_stat stat;
  if (running->count == PERF_RUNNING_PROCESSES_MAX) return;
  if (proc_stat_read(pid, &stat) < 0 || proc_stat_is_over(&stat)) return;
  running->processes[running->count].pid = pid;
  running->processes[running->count++].start_ticks = stat.start_ticks;
}

static void visit(void *context, struct process *process) {
  struct gather *gather = context;
  struct claim claim = {0};
  if (process->pid == gather->target->held.pid || process->has_ended) return;
  if (claim_stands(gather->target, process->pid, &claim)) add(gather->running, process->pid);
}

void ladder_list(const struct worker *worker, const struct target *target,
                 struct perf_running *ret) {
  struct gather gather = {.target = target, .running = ret};
  struct proc_stat stat;
  ret->count = 0;
  bool is_there =
      proc_stat_read(target->held.pid, &stat) == 0 && stat.start_ticks == target->held.start_ticks;
  if (is_there) add(ret, target->held.pid);
  processes_each(worker->processes, target->held.id, visit, &gather);
  if (target->held.kind != HOLD_TIMER) return;
  pid_t pids[PERF_RUNNING_PROCESSES_MAX]; /* and processes without any sample */
  unsigned known = ret->count;
  for (unsigned i = 0; i < known; i++) pids[i] = ret->processes[i].pid;
  unsigned count = children_add(target, pids, known, PERF_RUNNING_PROCESSES_MAX);
  for (unsigned i = known; i < count; i++) add(ret, pids[i]);
}
