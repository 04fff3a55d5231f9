/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel reports every fork, exec, mapping, name and exit in a perf target's tree, in the same
   rings as the samples. Followed in order of time, they give each process's mappings at the time of
   a sample. This includes processes that lived for a millisecond and have left /proc.

   A task's CPU time at its end arrives in another ring (perf_exits.h). The records that are there
   when a drain begins are handled when the drain is done. By then every earlier sample is booked to
   its process, as drain_rest.c requires.

   A tree may contain another target (`fleetprof run` in a sampled program). The kernel then reports
   everything in it twice, and only that target's events are used.

   The same moments are right for a reading of the clocks (steal_time.c). The events are read first,
   then all records, so every process with a part in the count is known; then the clocks.

   Records may be missing (lost in a full ring, or by a worker's restart). processes_get then reads
   /proc, at the first record of an unknown process. */
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

/* A reused pid begins with a FORK. */
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

/* The leader's end counts as the process's: threads that outlive it are still resolved with the
   data here. */
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

enum { PROCESSES_A_LOOK = 8 /* for this many more, the next reading is delayed as long again */ };

#define LOOK_NS (200 * NS_PER_MS)

static void open_look(struct target *target) {
  struct steal_time *steal = &target->residual.steal;
  if (target->exits.ring.map == NULL || clock_monotonic_ns() < steal->due_ns) return;
  target_read_total(target);
  steal->open_ns = target->residual.counted_ns;
  steal->is_open = true;
}

/* An upper bound of the time that the kernel bills to all processes of TARGET. For ended processes
   it is the smaller of two values: their events' counts, and the time reported to their parents.
   /proc truncates two ticks of each parent's sum. Returns false if it is unknown. */
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

/* True if TARGET contains other targets: a process with its own target was a child of this one for
   a moment. */
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
  if (process == NULL || process->target != target->held.id) return; /* the tree reports it */
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
