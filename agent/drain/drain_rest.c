/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the CPU time that no sample shows. The kernel's count of a perf target's tree is exact;
   the part without samples is [kernel] or [unsampled] (residual.c). It is billed to the process
   that spent it, so that a service of a thousand short commands has its time under its own name:

     a process that has ended   the counts in its threads' last records (perf_exits.h)
     one that lives             its time in /proc, less the part that may yet turn into samples
     the program itself         the remainder of the tree

   The sum of all claims is limited to the tree's count. So the total stays exact if a record was
   lost or a clock is coarse. The kernel part of an ended process's time is unknown; it gets the
   tree's current share.

   An event stops counting shortly before its task does: the kernel removes it and then tears down
   the address space. That takes 60 to 110 us of a command's millisecond (measured on 6.18). The
   clocks of the tree include that time. Their excess over the events' count is spread over the
   processes that ended meanwhile, by the time that each had spent. Each gets at most an eighth of
   its time.

   A timer target's processes that end normally report their time (exit_bill.h). Unreported time
   goes to the account of the run that they are part of (run_note.c). */
#include "drain.h"
#include "drain_parts.h"

#include "common/clock.h"
#include "intake/perf_attr.h"

#include <string.h>
#include <unistd.h>

/* Adds a whole part of the rest. Its weight is exact, its stack is one pseudo frame, and it counts
   as no sample. If the window has no room for it, it counts as a lost record. */
static void add_part(struct drain *drain, const struct window_series *series, const char *thread,
                     const struct window_sample *part) {
  struct window_sample sample = *part;
  if (sample.weight == 0) return;
  sample.series = series;
  sample.thread = thread;
  if (window_add(drain->window, &sample) == 0) return;
  counter_page_produce(drain->page, 1);
  counter_page_drop(drain->page, LOSS_WINDOW_FULL, 1);
}

static void add_step(struct drain *drain, struct target *target, struct process *process,
                     const struct residual_step *step) {
  static const struct code_frame kernel = {.module = MODULE_KERNEL};
  static const struct code_frame unsampled = {.module = MODULE_UNSAMPLED};
  struct window_series series;
  struct window_sample in_kernel = {.frames = &kernel, .depth = 1, .weight = step->kernel_ns};
  struct window_sample rest = {.frames = &unsampled, .depth = 1, .weight = step->rest_ns};
  if (step->kernel_ns + step->rest_ns == 0) return;
  if (step->rest_ns > 0 && pause_is_in_rest(target)) target->shows_pause = true;
  drain_describe(drain, target, process, &series);
  add_part(drain, &series, process->comm, &in_kernel);
  add_part(drain, &series, process->comm, &rest);
}

static void add_to_root(struct drain *drain, struct target *target,
                        const struct residual_step *step) {
  struct process stub;
  add_step(drain, target, drain_root(drain, target, &stub), step);
}

static uint64_t minus(uint64_t a, uint64_t b) {
  return a > b ? a - b : 0;
}

enum { TEARDOWN_PART = 8 /* limit of the teardown: 1/this of a process's time */ };

struct billing {
  struct drain *drain;
  struct target *target;
  bool is_by_events;    /* the clocks have missed some of the kernel's part */
  uint64_t ending_ns;   /* of the processes with accounts being closed */
  uint64_t teardown_ns; /* to be spread over them */
};

static uint64_t debt_key(const struct billing *billing, struct process *process) {
  struct window_series series;
  drain_describe(billing->drain, billing->target, process, &series);
  return exit_debt_key(series.service, billing->target->held.id);
}

/* A CPU's clock hits one of several short processes, and that sample stands for all of them. So an
   excess over its own time belongs to other processes of its name. */
static void owe(void *context, struct process *process) {
  const struct billing *billing = context;
  const struct process_time *time = &process->time;
  if (process->pid == billing->target->held.pid || time->is_closed) return;
  if (!process->has_ended || process->is_awaited) return;
  uint64_t more_ns = minus(time->sampled_ns + time->billed_ns, time->ended_ns);
  if (more_ns > 0) exit_debts_owe(&billing->drain->debts, debt_key(billing, process), more_ns);
}

static void report(const struct billing *billing, struct process *process,
                   const struct residual_claim *claim, uint64_t *ret_reported) {
  struct residual_step step;
  residual_bill(&billing->target->residual, claim, &step);
  process->time.billed_ns += step.kernel_ns + step.rest_ns;
  process->time.billed_kernel_ns += step.kernel_ns;
  add_step(billing->drain, billing->target, process, &step);
  *ret_reported = step.kernel_ns + step.rest_ns;
}

static void bill(void *context, struct process *process) {
  struct billing *billing = context;
  struct process_time *time = &process->time;
  uint64_t reported;
  if (process->pid == billing->target->held.pid || time->is_closed) return;
  uint64_t lives = process->has_ended ? 0 : rate_held_ns(billing->target, process->living_threads);
  uint64_t known = minus(time->cpu_ns, lives);
  if (time->ended_ns > known) known = time->ended_ns;
  struct residual_claim claim = {
      .wanted_ns = minus(known, time->sampled_ns + time->billed_ns),
      .is_kernel_known = !process->has_ended && !billing->is_by_events,
      .kernel_ns = minus(time->system_ns, time->sampled_kernel_ns + time->billed_kernel_ns)};
  if (billing->target->threads.is_wide && claim.wanted_ns > 0) {
    uint64_t paid_ns =
        exit_debts_pay(&billing->drain->debts, debt_key(billing, process), claim.wanted_ns);
    time->billed_ns += paid_ns;
    claim.wanted_ns -= paid_ns;
  }
  if (claim.wanted_ns > 0) report(billing, process, &claim, &reported);
  if (process->has_ended && !process->is_awaited) billing->ending_ns += time->ended_ns;
}

static void close_account(void *context, struct process *process) {
  struct billing *billing = context;
  struct process_time *time = &process->time;
  uint64_t reported = 0;
  if (process->pid == billing->target->held.pid || time->is_closed) return;
  if (!process->has_ended || process->is_awaited) return;
  time->is_closed = true;
  double share = billing->ending_ns ? (double)time->ended_ns / (double)billing->ending_ns : 0;
  uint64_t part = (uint64_t)(share * (double)billing->teardown_ns);
  struct residual_claim claim = {.wanted_ns = part, .is_kernel_known = true, .kernel_ns = part};
  if (part > 0) report(billing, process, &claim, &reported);
  billing->target->residual.spread_ns += reported;
}

static void bill_processes(struct drain *drain, struct target *target, bool is_by_events) {
  struct billing billing = {.drain = drain, .target = target, .is_by_events = is_by_events};
  const struct residual *residual = &target->residual;
  if (target->threads.is_wide) processes_each(drain->processes, target->held.id, owe, &billing);
  processes_each(drain->processes, target->held.id, bill, &billing);
  uint64_t uncounted = minus(residual->total_ns, residual_kept_ns(residual));
  billing.teardown_ns = minus(uncounted, residual->spread_ns);
  if (billing.teardown_ns > billing.ending_ns / TEARDOWN_PART)
    billing.teardown_ns = billing.ending_ns / TEARDOWN_PART;
  processes_each(drain->processes, target->held.id, close_account, &billing);
}

/* Inner targets are read after the tree, so that their time is never counted as the tree's own. */
static void count_elsewhere(const struct drain *drain, struct target *target) {
  uint64_t sum_ns = target->residual.left_ns;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *inner = drain->targets->rows[row];
    if (inner == NULL || inner->held.inside != target->held.id) continue;
    target_read_total(inner);
    sum_ns += minus(inner->residual.total_ns, inner->residual.base_total_ns);
  }
  target->residual.elsewhere_ns = sum_ns;
}

void drain_leave(struct drain *drain, const struct target *target) {
  const struct residual *residual = &target->residual;
  struct target *outer = target->held.inside != 0 && target->held.kind == HOLD_PERF
                             ? targets_find(drain->targets, target->held.inside)
                             : NULL;
  if (outer == NULL) return;
  outer->residual.left_ns += minus(residual->total_ns, residual->base_total_ns);
  outer->residual.left_kernel_ns += minus(residual->kernel_ns, residual->base_kernel_ns);
}

/* Returns true if the events show more kernel time than SYSTEM_NS from the clocks. Events that
   sample the kernel give no such evidence (kernel_part.c). */
static bool look_at_kernel(struct target *target, uint64_t system_ns, uint64_t held_ns) {
  struct residual *residual = &target->residual;
  if (system_ns > residual->kernel_ns) residual->kernel_ns = system_ns;
  if (target->held.content & PERF_CONTENT_KERNEL) return false;
  struct kernel_look look = {.counted_ns =
                                 minus(residual_kept_ns(residual), residual->elsewhere_ns),
                             .sampled_ns = residual->sampled_ns,
                             .held_ns = held_ns,
                             .is_blind = target->held.control != RING_RUN ||
                                         target->bad_since_ns != 0 || target->threads.is_wide};
  look.stolen_ns = steal_time_unproved_ns(&residual->steal);
  uint64_t kernel_ns = residual->base_kernel_ns + residual->left_kernel_ns +
                       kernel_part_look(&residual->kernel, &look);
  if (kernel_ns <= residual->kernel_ns) return false;
  residual->kernel_ns = kernel_ns;
  return true;
}

/* Reads the board's steal time. perf_process.c reads the target's own clocks. */
static void look_at_board(struct target *target) {
  struct steal_look look = {.counted_ns = target->residual.counted_ns, .is_partial = true};
  proc_board_read(&look.board);
  residual_look(&target->residual, &look);
}

/* Stores its names for when it is gone: each window needs them. */
static void remember_root(const struct drain *drain, struct target *target) {
  const struct process *root = processes_find(drain->processes, target->held.pid);
  if (root == NULL) return;
  memcpy(target->root_comm, root->comm, sizeof target->root_comm);
  memcpy(target->root_begun_as, root->begun_as, sizeof target->root_begun_as);
}

void drain_residual(struct drain *drain, struct target *target, bool is_final) {
  struct processes_sum sum;
  struct residual_step step;
  struct residual *residual = &target->residual;
  remember_root(drain, target);
  target_read_total(target);
  processes_sum_target(drain->processes, target->held.id, &sum);
  residual_hear(residual, sum.cpu_ns);
  look_at_board(target);
  count_elsewhere(drain, target);
  uint64_t held_ns = is_final ? 0 : rate_held_ns(target, sum.threads);
  bill_processes(drain, target, look_at_kernel(target, sum.system_ns, held_ns));
  residual_next(residual, held_ns, &step);
  add_to_root(drain, target, &step);
}

void drain_rest(struct drain *drain, struct target *target, uint64_t weight_ns) {
  add_to_root(drain, target, &(struct residual_step){.rest_ns = weight_ns});
}

void drain_exits(struct drain *drain, struct target *target, bool is_final) {
  struct window_series series;
  struct process stub, *root = drain_root(drain, target, &stub);
  if (target->held.behind != 0) return; /* the target that it is a fallback of accounts for all */
  /* A recorder's values are weighed when it is shipped. */
  if (target->held.collect == RING_RECORDER && !is_final) return;
  drain_describe(drain, target, root, &series);
  pause_look(target, is_final);
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  struct exit_claim claim = {.now_ns = clock_monotonic_ns(),
                             .cpus = cpus > 0 ? (uint32_t)cpus : 1,
                             .sampled_ns = target->weight_ns,
                             .period_ns = target->held.period_ns,
                             .key = exit_debt_key(series.service, target->run),
                             .is_final = is_final};
  uint64_t due_ns = exit_bill_next(&target->exit, &drain->debts, &claim);
  add_step(drain, target, root, &(struct residual_step){.rest_ns = due_ns});
}

void drain_settle_crowd(struct drain *drain) {
  if (!processes_is_crowded(drain->processes)) return;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = drain->targets->rows[row];
    if (target != NULL && target->held.kind == HOLD_PERF) drain_residual(drain, target, false);
  }
  processes_remove_ended(drain->processes);
}
