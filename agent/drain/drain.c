/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of every drain: put the records into the window, store the future accounts, move the
   ring's tail, then switch the accounts (counter_page.h). If a worker is killed before the tail
   moves, the records stay in the ring for the next one. If it is killed later, they are in the
   accounts and were in its window: lost, and counted as lost.

   So a window is never closed between adding records and moving the tail: a spooled batch would
   contain records that are still in the ring. Records that no longer fit into the window are
   dropped and counted; shipper.c closes windows long before.

   Histograms have no tail, and another rule (histogram_drain.c). */
#include "drain.h"
#include "drain_parts.h"
#include "histogram_drain.h"
#include "recorder.h"
#include "target_state.h"

#include "common/clock.h"
#include "proto/limits.h"
#include "targets/service_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int drain_init(struct drain *drain) {
  drain->scratch = malloc(DRAIN_SCRATCH_BYTES);
  if (drain->scratch == NULL) return -ENOMEM;
  walker_init(&drain->walker, drain->modules, drain->tables);
  return perf_drain_init(drain);
}

void drain_fini(struct drain *drain) {
  kernel_frames_close(&drain->kernel);
  walker_fini(&drain->walker);
  free(drain->scratch);
  free(drain->pieces);
  drain->scratch = NULL;
  drain->pieces = NULL;
}

void drain_describe(struct drain *drain, const struct target *target, struct process *process,
                    struct window_series *ret) {
  const struct hold_target *held = &target->held;
  const char *exe = process->exe ? process->exe : "";
  if (process->exe_module != MODULE_NONE)
    process->exe_module = modules_identify(drain->modules, process->exe_module,
                                           process->has_ended ? 0 : process->pid);
  *ret = (struct window_series){.target = held->id,
                                .service = service_name(held, process),
                                .exe = exe,
                                .labels = held->labels,
                                .sampler = target_sampler(target),
                                .why = held->why,
                                .exe_module = process->exe_module,
                                .asked_mhz = held->asked_mhz};
  if (process->is_kernel) ret->service = KERNEL_NAME; /* kernel threads have very many names */
  if (ret->service[0] == '\0') ret->service = "unknown";
}

/* Resolves a stack's kernel part, then the program's, which a kernel thread does not have. */
static uint32_t resolve(struct drain *drain, const struct drain_stack *stack,
                        struct code_frame frames[LIMIT_STACK_DEPTH]) {
  uint32_t count = stack->depth < LIMIT_STACK_DEPTH ? stack->depth : LIMIT_STACK_DEPTH;
  uint32_t kernel = stack->kernel_depth < count ? stack->kernel_depth : count;
  uint32_t depth = kernel_frames_resolve(&drain->kernel, stack->pc, kernel, frames);
  if (kernel < count)
    depth += process_resolve(drain->processes, stack->process, stack->pc + kernel, count - kernel,
                             frames + depth);
  return depth;
}

/* Puts END at the root of DEPTH frames; replaces the outermost frame if the stack has the maximum
   depth. Returns their number. */
static uint32_t add_end(enum stack_end end, struct code_frame frames[LIMIT_STACK_DEPTH],
                        uint32_t depth) {
  static const uint32_t modules[STACK_END_COUNT] = {[STACK_TRUNCATED] = MODULE_TRUNCATED,
                                                    [STACK_NO_TABLE] = MODULE_NO_TABLE,
                                                    [STACK_BAD] = MODULE_BAD_STACK,
                                                    [STACK_OTHER] = MODULE_OTHER_STACK};
  if (stack_end_frame(end) == NULL) return depth;
  if (depth == LIMIT_STACK_DEPTH) depth--;
  frames[depth] = (struct code_frame){.module = modules[end]};
  return depth + 1;
}

void drain_add(struct drain *drain, const struct drain_stack *stack, struct counters *tally) {
  struct code_frame frames[LIMIT_STACK_DEPTH];
  struct window_series series;
  enum stack_end end = stack->depth > LIMIT_STACK_DEPTH ? STACK_TRUNCATED : stack->end;
  bool is_stack = stack->type == SAMPLE_CPU;
  drain_describe(drain, stack->target, stack->process, &series);
  struct window_sample sample = {.series = &series,
                                 .thread = stack->thread,
                                 .frames = frames,
                                 .depth = resolve(drain, stack, frames),
                                 .type = stack->type,
                                 .end = end,
                                 .count = 1,
                                 .weight = stack->weight_ns};
  if (is_stack) sample.depth = add_end(end, frames, sample.depth);
  tally->produced++;
  stack->target->records++;
  stack->target->weight_ns += stack->weight_ns;
  if (is_stack) stack->target->stacks_ns[end] += stack->weight_ns;
  if (is_stack) drain->stacks_ns[end] += stack->weight_ns;
  if (window_add(drain->window, &sample) < 0) tally->dropped[LOSS_WINDOW_FULL]++;
}

struct process *drain_root(const struct drain *drain, const struct target *target,
                           struct process *stub) {
  struct process *process = processes_find(drain->processes, target->held.pid);
  if (process != NULL) return process;
  *stub = (struct process){.exe_module = MODULE_NONE};
  stub->exe = target->held.exe[0] ? (char *)(uintptr_t)target->held.exe : NULL;
  memcpy(stub->comm, target->root_comm, sizeof stub->comm);
  memcpy(stub->begun_as, target->root_begun_as, sizeof stub->begun_as);
  return stub;
}

void drain_mention_all(struct drain *drain) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = drain->targets->rows[row];
    struct window_series series;
    struct process stub;
    if (target == NULL || target->held.behind != 0) continue;
    drain_describe(drain, target, drain_root(drain, target, &stub), &series);
    window_mention(drain->window, &series); /* a full window is reported anyway */
  }
}

int drain_add_frame(struct drain *drain, const struct target *target,
                    const struct drain_frame *of) {
  struct window_series series;
  struct process stub, *process = drain_root(drain, target, &stub);
  drain_describe(drain, target, process, &series);
  struct window_sample sample = {.series = &series,
                                 .thread = process->comm,
                                 .frames = &of->frame,
                                 .depth = 1,
                                 .type = of->type,
                                 .count = of->count,
                                 .weight = of->weight_ns};
  return window_add(drain->window, &sample);
}

void drain_add_bad(struct drain *drain, struct counters *tally) {
  drain->figures.bad_records++;
  tally->produced++;
  tally->dropped[LOSS_BAD_RECORD]++;
}

struct counters drain_after(const struct drain *drain, const struct counters *tally) {
  struct counters after = *counter_page_books(drain->page);
  after.produced += tally->produced;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) after.dropped[i] += tally->dropped[i];
  return after;
}

/* The current tail of a pending drain's ring. Returns false if there is no ring of that number. */
static bool find_tail(const struct drain *drain, const struct counter_drain *pending,
                      uint64_t *ret_tail) {
  if (pending->ring == DRAIN_RING_PERF) {
    if (pending->slot >= drain->perf->count) return false;
    *ret_tail = perf_ring_tail(&drain->perf->cpus[pending->slot]);
    return true;
  }
  const struct target *target = targets_find(drain->targets, pending->ring);
  if (target == NULL || target->held.kind != HOLD_TIMER || pending->slot >= target->ring.slot_count)
    return false;
  struct ring_view view;
  ring_reader_look(&target->ring, pending->slot, &view);
  *ret_tail = view.tail;
  return true;
}

void drain_recover(struct drain *drain) {
  struct counter_drain pending;
  uint64_t tail;
  if (!counter_page_has_pending(drain->page, &pending)) return;
  if (pending.ring == DRAIN_RING_SPOOL) return; /* belongs to the shipper */
  const struct target *target = targets_find(drain->targets, pending.ring);
  if (!find_tail(drain, &pending, &tail) || tail != pending.tail) {
    counter_page_forget(drain->page);
    return;
  }
  if (target != NULL && pending.ring != DRAIN_RING_PERF)
    ring_reader_count(&target->ring, pending.slot, pending.counted_full, pending.counted_reentry);
  counter_page_commit(drain->page);
}

/* A restored target's first reading follows the first complete drain of its ring. Otherwise the
   dead worker's records there would be reported again as rest. */
static void rebase_restored(struct drain *drain) {
  struct processes_sum sum;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = drain->targets->rows[row];
    if (target == NULL || !target->is_restored || target->held.kind != HOLD_PERF) continue;
    target_read_total(target);
    processes_sum_target(drain->processes, target->held.id, &sum);
    target->residual.kernel_ns = sum.system_ns;
    residual_hear(&target->residual, sum.cpu_ns);
    residual_rebase(&target->residual);
    target->is_restored = false;
  }
}

static uint64_t run_mode(struct drain *drain, struct target *target, bool is_whole) {
  /* Read this before draining, so that all samples of the processes it covers are drained in this
     pass. */
  target->exit.said_ns = ring_reader_exit_cpu_ns(&target->ring);
  switch (target->held.collect) {
  case RING_HISTOGRAM:
    return histogram_drain_run(drain, target, is_whole);
  case RING_RECORDER:
    recorder_follow(drain, target);
    return 0;
  default:
    return timer_drain_run(drain, target);
  }
}

/* Runs a turn that has begun. */
static uint64_t run_turn(struct drain *drain, struct target *target, bool is_whole) {
  modules_set_payer(drain->modules, &target->toll, target->held.id);
  uint64_t records = run_mode(drain, target, is_whole);
  modules_set_payer(drain->modules, NULL, 0);
  user_tolls_charge(&drain->users, target->held.uid, toll_end(&target->toll));
  return records;
}

static uint64_t run_timer(struct drain *drain, struct target *target, bool is_whole) {
  if (user_tolls_may_pass(&drain->users, target->held.uid, clock_monotonic_ns()) &&
      toll_begin(&target->toll, TOLL_TURN_MS))
    return run_turn(drain, target, is_whole);
  target->turn.missed++;
  return 0;
}

static int compare_debts(const void *a, const void *b) {
  uint64_t left = (*(struct target *const *)a)->toll.debt_ns;
  uint64_t right = (*(struct target *const *)b)->toll.debt_ns;
  return (left > right) - (left < right);
}

/* The smallest debt first: if a user has to wait, its most expensive programs do. */
static uint64_t run_timers(struct drain *drain, bool is_whole) {
  struct target *order[HOLD_TARGETS_MAX];
  uint32_t count = 0;
  uint64_t records = 0;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = drain->targets->rows[row];
    if (target != NULL && target->held.kind == HOLD_TIMER) order[count++] = target;
  }
  qsort(order, count, sizeof *order, compare_debts);
  for (uint32_t i = 0; i < count; i++) records += run_timer(drain, order[i], is_whole);
  return records;
}

static uint64_t run(struct drain *drain, bool is_whole) {
  uint64_t records = 0;
  drain->figures.fill_percent = 0;
  if (drain->is_over) return 0;
  if (drain->perf->count > 0) records += perf_drain_run(drain);
  records += run_timers(drain, is_whole);
  rebase_restored(drain);
  drain_settle_crowd(drain);
  return records;
}

uint64_t drain_run(struct drain *drain) {
  return run(drain, false);
}

uint64_t drain_run_events(struct drain *drain) {
  if (drain->is_over || drain->perf->count == 0) return 0;
  drain->wait.is_allowed = true;
  uint64_t records = perf_drain_run(drain);
  drain->wait.is_allowed = false;
  return records;
}

uint64_t drain_run_patiently(struct drain *drain) {
  drain->wait.is_allowed = true;
  uint64_t records = run(drain, false);
  drain->wait.is_allowed = false;
  return records;
}

uint64_t drain_run_whole(struct drain *drain) {
  return run(drain, true);
}

uint64_t drain_run_last(struct drain *drain, uint32_t serial) {
  uint64_t records = run(drain, true), begun_ns = clock_cpu_ns();
  drain->is_last = true;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = drain->targets->rows[row];
    if (target == NULL || target->held.kind != HOLD_TIMER) continue;
    if (serial != 0 && target->run != serial) continue;
    uint64_t spent_ms = (clock_cpu_ns() - begun_ns) / NS_PER_MS;
    toll_begin_last(&target->toll, spent_ms < TOLL_LAST_ALL_MS ? TOLL_LAST_MS : 0);
    records += run_turn(drain, target, true);
  }
  drain->is_last = false;
  return records;
}
