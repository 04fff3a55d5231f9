/* SPDX-License-Identifier: Apache-2.0 */
/* Drains the events of the whole board. The records are like a program's, but of all programs,
   which makes three differences.

   A process sampled by its own target (`fleetprof run`, the preload) is left to that target: its
   samples here are skipped, so nothing counts twice. A child of that process is covered like its
   parent until it executes a program that the preload may not be in.

   Existing processes are not followed. The first sample of a process has its name and mappings read
   from /proc, so the number of samples bounds the work. Records of processes without samples are
   not decoded.

   The idle task is not in these rings (exclude_idle), and would be dropped here. Programs that must
   not be shipped become one row, [others], so that the total is still the board's; not even their
   names leave the board. */
#include "drain_parts.h"
#include "target_state.h"

#include "common/options.h"
#include "perf/perf_record.h"
#include "targets/process_maps.h"

#include <fnmatch.h>
#include <string.h>

static bool is_listed(const struct option_list *list, const char *service) {
  for (unsigned i = 0; list != NULL && i < list->count; i++)
    if (fnmatch(list->values[i], service, 0) == 0) return true;
  return false;
}

static bool is_shipped(const struct drain *drain, const char *service) {
  if (is_listed(drain->deny, service)) return false;
  return drain->allow == NULL || drain->allow->count == 0 || is_listed(drain->allow, service);
}

/* The process if it is the board's; NULL if it is unknown or covered. */
static struct process *find_own(const struct drain *drain, const struct target *board,
                                const struct perf_record *record) {
  struct process *process = processes_find(drain->processes, record->pid);
  return process != NULL && process->target == board->held.id ? process : NULL;
}

static bool is_covered(const struct drain *drain, const struct target *board, int32_t pid) {
  const struct process *process = processes_find(drain->processes, pid);
  return process != NULL && process->target != board->held.id;
}

/* One row for all programs without a name. */
static void add_to_others(struct drain *drain, struct target *board,
                          const struct perf_record *record, struct counters *tally) {
  static const struct code_frame frame = {.module = MODULE_OTHERS};
  struct window_series series = {.target = board->held.id,
                                 .service = "[others]",
                                 .exe = "",
                                 .labels = "",
                                 .sampler = target_sampler(board),
                                 .why = "",
                                 .exe_module = MODULE_NONE,
                                 .asked_mhz = board->held.asked_mhz};
  struct window_sample sample = {.series = &series,
                                 .thread = "",
                                 .frames = &frame,
                                 .depth = 1,
                                 .count = 1,
                                 .weight = record->sample.period_ns};
  tally->produced++;
  board->records++;
  board->weight_ns += record->sample.period_ns;
  if (window_add(drain->window, &sample) < 0) tally->dropped[LOSS_WINDOW_FULL]++;
}

static void take_sample(struct drain *drain, struct target *board, struct perf_record *record,
                        struct counters *tally) {
  struct window_series series;
  if (record->pid == 0 || is_covered(drain, board, record->pid)) return;
  struct process *process = processes_get(drain->processes, record->pid, board->held.id, -1);
  if (process == NULL) {
    tally->produced++;
    tally->dropped[LOSS_WINDOW_FULL]++;
    return;
  }
  drain_describe(drain, board, process, &series);
  if (!is_shipped(drain, series.service)) {
    add_to_others(drain, board, record, tally);
    return;
  }
  enum stack_end end = perf_drain_walk(drain, process, record);
  struct drain_stack stack = {.target = board,
                              .process = process,
                              .thread = process_thread_name(process, record->tid, NULL),
                              .pc = record->sample.pc,
                              .depth = record->sample.depth,
                              .kernel_depth = record->sample.kernel_depth,
                              .end = end,
                              .weight_ns = record->sample.period_ns};
  drain_add(drain, &stack, tally);
}

/* A child belongs to its parent's target: the board or a covering target. If a perf target covers
   the parent, that target's own record reports the same. */
static void on_fork(struct drain *drain, const struct perf_record *record) {
  const struct process *known = processes_find(drain->processes, record->pid);
  const struct process *parent = processes_find(drain->processes, record->task.parent_pid);
  if (record->pid == record->task.parent_pid || parent == NULL) return;
  bool is_told = known != NULL && known->target == parent->target && !known->has_ended;
  if (!is_told) processes_fork(drain->processes, parent, record->pid);
}

/* A new program in a process that the preload covered may not have loaded it. If it has, it
   registers, and takes the process back. */
static void on_exec(struct drain *drain, const struct target *board,
                    const struct perf_record *record) {
  struct process *process = find_own(drain, board, record);
  if (process != NULL) {
    process_exec(process, record->comm.name);
    return;
  }
  process = processes_find(drain->processes, record->pid);
  const struct target *owner = process ? targets_find(drain->targets, process->target) : NULL;
  if (owner != NULL && owner->held.kind == HOLD_TIMER && owner->held.pid != record->pid)
    processes_forget_pid(drain->processes, record->pid);
}

static void on_comm(struct drain *drain, const struct target *board,
                    const struct perf_record *record) {
  struct process *process = find_own(drain, board, record);
  if (record->comm.is_exec)
    on_exec(drain, board, record);
  else if (process != NULL)
    process_name_thread(process, record->tid, record->comm.name);
}

static void on_exit_of(struct process *process, const struct perf_record *record) {
  if (record->pid == record->tid)
    process->has_ended = true;
  else
    process_forget_thread(process, record->tid);
}

void board_drain_record(struct drain *drain, struct target *board, struct perf_record *record,
                        struct counters *tally) {
  struct process *process;
  switch (record->kind) {
  case PERF_RECORD_KIND_SAMPLE:
    take_sample(drain, board, record, tally);
    return;
  case PERF_RECORD_KIND_FORK:
    on_fork(drain, record);
    return;
  case PERF_RECORD_KIND_COMM:
    on_comm(drain, board, record);
    return;
  case PERF_RECORD_KIND_MMAP:
    process = find_own(drain, board, record);
    if (process != NULL) perf_process_map(drain, process, record);
    return;
  case PERF_RECORD_KIND_EXIT:
    process = find_own(drain, board, record);
    if (process != NULL) on_exit_of(process, record);
    return;
  default:
    return;
  }
}
