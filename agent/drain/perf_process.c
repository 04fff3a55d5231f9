/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel tells of every fork, exec, mapping, name and exit in a perf target's tree, in the same
   rings as the samples.  Followed in order of time they give each process's mappings as they were
   when a sample was taken, also of processes that lived for a millisecond and that /proc has
   forgotten.

   How much CPU time a task had when it ended comes by another ring (perf_exits.h).  What stands in
   it when a drain begins is looked at when the drain is done: by then every sample that was made
   before is booked to its process, which drain_rest.c relies on.

   A tree may hold a target of its own (`fleetprof run` in a program that is sampled): the kernel
   then tells everything of it twice, and is believed once, by that target's events.

   The same moments are right for a look at the clocks (steal_time.c).  The events are read first,
   then all records, so every process that had a part in the count is known; then the clocks.

   What is missing (records lost in a full ring, a worker that was restarted) is made up for from
   /proc by processes_get, at the first record of a process that nobody knows. */
#include "drain_parts.h"

#include "common/clock.h"
#include "perf/perf_record.h"
#include "proc/mappings.h"
#include "proc/mount_info.h"
#include "targets/perf_threads.h"

#include <string.h>

void perf_process_map(struct drain *drain, struct process *process,
                      const struct perf_record *record) {
  struct process_map map = {.start = record->mmap.start,
                            .end = record->mmap.start + record->mmap.len,
                            .file_offset = record->mmap.file_offset};
  struct module_file file = {mappings_path(span_of_string(record->mmap.path)), record->mmap.inode,
                             mount_info_device(record->mmap.major, record->mmap.minor)};
  process_map_add(drain->processes, process, &map, &file);
}

/* A number that is used again begins with a FORK. */
bool perf_process_is_inner(const struct drain *drain, const struct target *target,
                           const struct perf_record *record) {
  const struct process *process = processes_find(drain->processes, record->pid);
  if (process == NULL || process->target == target->held.id) return false;
  bool is_birth = record->kind == PERF_RECORD_KIND_FORK && record->pid != record->task.parent_pid;
  if (is_birth && process->has_ended) return false;
  const struct target *inner = targets_find(drain->targets, process->target);
  for (unsigned deep = 0; inner != NULL && deep < HOLD_TARGETS_MAX; deep++) {
    if (inner->held.kind != HOLD_PERF || inner->held.inside == 0) return false;
    if (inner->held.inside == target->held.id) return true;
    inner = targets_find(drain->targets, inner->held.inside);
  }
  return false;
}

static void on_fork(struct drain *drain, struct target *target, const struct perf_record *record) {
  if (record->pid != record->task.parent_pid) {
    const struct process *parent = processes_find(drain->processes, record->task.parent_pid);
    if (parent == NULL || parent->target != target->held.id) return;
    target->residual.has_forked = true;
    processes_fork(drain->processes, parent, record->pid);
    return;
  }
  struct process *process = processes_find(drain->processes, record->pid);
  if (process != NULL) process->has_threads = true;
  if (process != NULL)
    process_name_thread(process, record->tid,
                        process_thread_name(process, record->task.parent_tid, NULL));
}

/* The leader's end stands for the process's: threads that outlive it are still resolved by what is
   known here. */
static void on_exit_of(struct drain *drain, struct target *target,
                       const struct perf_record *record) {
  target->residual.kernel.lost_ns += rate_held_ns(target, 1);
  struct process *process = processes_find(drain->processes, record->pid);
  if (process == NULL || process->target != target->held.id) return;
  if (record->pid != record->tid) {
    process_forget_thread(process, record->tid);
    return;
  }
  process->has_ended = true;
  process->is_awaited = target->exits.ring.map != NULL;
}

void perf_process_record(struct drain *drain, struct target *target,
                         const struct perf_record *record) {
  struct process *process;
  switch (record->kind) {
  case PERF_RECORD_KIND_FORK:
    on_fork(drain, target, record);
    return;
  case PERF_RECORD_KIND_EXIT:
    on_exit_of(drain, target, record);
    return;
  case PERF_RECORD_KIND_MMAP:
  case PERF_RECORD_KIND_COMM:
    process = processes_get(drain->processes, record->pid, target->held.id, -1);
    if (process == NULL) return;
    process->is_root = record->pid == target->held.pid;
    if (record->kind == PERF_RECORD_KIND_MMAP)
      perf_process_map(drain, process, record);
    else if (record->comm.is_exec)
      process_exec(process, record->comm.name);
    else
      process_name_thread(process, record->tid, record->comm.name);
    return;
  default:
    return;
  }
}

enum { PROCESSES_A_LOOK = 8 /* so many more, and the next look waits as long again */ };

#define LOOK_NS (200 * NS_PER_MS)

static void open_look(struct target *target) {
  struct steal_time *steal = &target->residual.steal;
  if (target->exits.ring.map == NULL || clock_monotonic_ns() < steal->due_ns) return;
  target_read_total(target);
  steal->open_ns = target->residual.counted_ns;
  steal->is_open = true;
}

/* What the kernel bills to all processes of TARGET, at most.  Of those that have ended it is what
   their events counted, or what their parents were told, if that is less; /proc cuts two ticks of
   each parent's sum.  Returns false when it is not known. */
static bool read_bill(const struct target *target, const struct processes_sum *sum,
                      uint64_t *ret_ns) {
  const struct residual *residual = &target->residual;
  uint64_t counted = residual->ended_ns > sum->ended_ns ? residual->ended_ns - sum->ended_ns : 0;
  uint64_t told = sum->zombie_ns + sum->waited_ns + sum->waiters * proc_ticks_to_ns(2);
  bool is_told = sum->waiters > 0, is_lost = target->exits.lost > 0 && target->residual.has_forked;
  bool is_counted = !sum->is_partial && !is_lost;
  if (sum->processes == 0 || !(is_told || is_counted)) return false;
  *ret_ns = sum->clock_ns + (is_told && (!is_counted || told < counted) ? told : counted);
  return true;
}

/* A process that is its own target now was a child of this one for a moment. */
static bool has_inner(const struct drain *drain, const struct target *target) {
  if (target->residual.left_ns > 0) return true;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *inner = drain->targets->rows[row];
    if (inner != NULL && inner->held.inside == target->held.id) return true;
  }
  return false;
}

static void close_look(struct drain *drain, struct target *target) {
  struct residual *residual = &target->residual;
  struct processes_sum sum;
  if (!residual->steal.is_open) return;
  residual->steal.is_open = false;
  processes_sum_target(drain->processes, target->held.id, &sum);
  if (sum.system_ns > residual->kernel_ns) residual->kernel_ns = sum.system_ns;
  struct steal_look look = {.counted_ns = residual->steal.open_ns};
  look.is_partial = !read_bill(target, &sum, &look.billed_ns) || has_inner(drain, target);
  proc_board_read(&look.board);
  residual_look(residual, &look);
  residual->steal.due_ns = clock_monotonic_ns() + LOOK_NS * (1 + sum.processes / PROCESSES_A_LOOK);
}

void perf_process_mark_ends(struct drain *drain) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = drain->targets->rows[row];
    if (target == NULL || target->held.kind != HOLD_PERF) continue;
    open_look(target);
    unsigned percent = perf_exits_mark(&target->exits);
    if (percent > drain->figures.fill_percent) drain->figures.fill_percent = percent;
  }
}

static void take_end(struct drain *drain, struct target *target, const struct perf_exit *end) {
  perf_threads_note_end(target, end->cpu_ns);
  struct process *process = processes_find(drain->processes, end->pid);
  if (process == NULL || process->target == target->held.id)
    target->residual.ended_ns += end->cpu_ns;
  if (process == NULL || process->target != target->held.id) return; /* the tree answers for it */
  process->time.ended_ns += end->cpu_ns;
  if (end->tid == end->pid) process->is_awaited = false;
}

void perf_process_take_ends(struct drain *drain) {
  struct perf_exit end;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = drain->targets->rows[row];
    if (target == NULL || target->held.kind != HOLD_PERF) continue;
    while (perf_exits_next(&target->exits, &end)) take_end(drain, target, &end);
    close_look(drain, target);
  }
}
