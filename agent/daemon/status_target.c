/* SPDX-License-Identifier: Apache-2.0 */
/* A program's row has the sampler, why it is no better one, and its results and gaps.  Threads are
   counted as they are now (census.h), not over time.  The sum over all programs covers live
   programs.  Threads for which the agent itself had no slot are counted for ever, because their
   program may end before the status is read.

   Which programs another user runs, how and for how long, is visible only to that user, root and
   the daemon's own user.  Other users get only the number of programs.

   Launch records show the choice of `run` for its programs, ended ones included, until newer
   records replace them. */
#include "budget.h"
#include "status.h"
#include "status_json.h"
#include "switchboard.h"
#include "worker.h"

#include "census/census.h"
#include "common/clock.h"
#include "drain/histogram_drain.h"
#include "drain/recorder.h"
#include "drain/target_state.h"
#include "intake/perf_attr.h"
#include "intake/unwind_choice.h"
#include "proto/batch.h"
#include "ring/histogram_reader.h"
#include "targets/process_entry.h"
#include "targets/service_name.h"
#include "targets/switch.h"
#include "targets/timer_ring.h"

#include <string.h>
#include <unistd.h>

static void print_reasons(const uint32_t *counts, struct buf *out) {
  json_open(out, "unsampled");
  for (unsigned i = UNSAMPLED_RAW; i < UNSAMPLED_REASONS; i++)
    if (counts[i] > 0) json_number(out, unsampled_name((enum unsampled_reason)i), counts[i]);
  buf_append_byte(out, '}');
}

static void print_census(const struct target *target, struct buf *out) {
  struct census_figures census;
  census_figures(target, &census);
  print_reasons(census.unsampled, out);
  if (target->held.kind == HOLD_TIMER && target->held.clock != RING_CLOCK_THREAD)
    json_number(out, "signals_strayed", ring_reader_strayed(&target->ring));
  const char *mark = census.marks & MARK_LOCK_STEP_LIKELY     ? "likely"
                     : census.marks & MARK_LOCK_STEP_POSSIBLE ? "possible"
                                                              : "";
  json_string(out, "lock_step", mark);
  uint64_t since_ns = target_none_since_ns(target);
  if (since_ns == 0) return;
  json_number(out, "none_for_s", (clock_monotonic_ns() - since_ns) / NS_PER_SECOND);
}

void status_print_unsampled(const struct worker *worker, struct buf *out) {
  uint64_t refused = worker->threads_unsampled;
  uint32_t sum[UNSAMPLED_REASONS] = {0};
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    struct census_figures census;
    if (target == NULL || target->held.kind != HOLD_TIMER || target->held.behind != 0) continue;
    refused += ring_reader_unsampled(&target->ring);
    census_figures(target, &census);
    for (unsigned i = 0; i < UNSAMPLED_REASONS; i++) sum[i] += census.unsampled[i];
  }
  json_number(out, "threads_unsampled", refused);
  print_reasons(sum, out);
}

/* The shares of its stacks by how they ended; {} if there are none. */
static void print_stacks(const struct target *target, struct buf *out) {
  double total = 0;
  for (unsigned i = 0; i < STACK_END_COUNT; i++) total += (double)target->stacks_ns[i];
  json_open(out, "stacks");
  for (unsigned i = 0; total > 0 && i < STACK_END_COUNT; i++)
    json_fraction(out, stack_end_name((enum stack_end)i), (double)target->stacks_ns[i] / total);
  buf_append_byte(out, '}');
}

static void print_labels(struct buf *out, const char *text) {
  json_open(out, "labels");
  while (*text != '\0') {
    size_t len = strcspn(text, "\n");
    const char *equals = memchr(text, '=', len);
    if (equals != NULL && equals > text) {
      if (out->data[out->len - 1] != '{') buf_append_byte(out, ',');
      json_text(out, text, (size_t)(equals - text));
      buf_append_byte(out, ':');
      json_text(out, equals + 1, len - (size_t)(equals + 1 - text));
    }
    text += len + (text[len] == '\n');
  }
  buf_append_byte(out, '}');
}

/* Describes the ring of a timer target. */
static void print_ring(const struct target *target, struct buf *out) {
  static const char *const modes[] = {"stacks", "pc-lr", "histogram", "recorder"};
  const struct hold_target *held = &target->held;
  struct histogram_totals totals;
  json_string(out, "collect", modes[held->collect]);
  json_string(out, "unwind", unwind_choice_name(held->unwind));
  if (held->kind != HOLD_TIMER) return;
  json_number(out, "ring_bytes", timer_ring_bytes(held));
  if (held->collect == RING_RECORDER) {
    json_bool(out, "on_disk", held->is_file);
    json_number(out, "written", recorder_written(target));
  }
  if (held->collect != RING_HISTOGRAM) return;
  histogram_drain_totals(target, &totals);
  json_number(out, "bin_bytes", held->bin_bytes);
  json_number(out, "counter_bytes", held->counter_bytes);
  json_number(out, "counted", totals.samples);
  json_number(out, "outside", totals.outside);
  json_number(out, "saturated", totals.saturated);
  json_number(out, "contended", totals.contended);
}

/* The arguments in one line, without the trailing NULs. */
static void print_argv(const struct hold_target *held, struct buf *out) {
  static const char *const found[] = {"none", "verified", "guessed"};
  char line[INTAKE_ARGV_BYTES];
  size_t len = sizeof line;
  memcpy(line, held->argv, sizeof line);
  while (len > 0 && line[len - 1] == '\0') len--;
  for (size_t i = 0; i < len; i++)
    if (line[i] == '\0') line[i] = ' ';
  json_string(out, "argv", line);
  json_string(out, "argv_found",
              found[held->argv_quality <= INTAKE_ARGV_GUESSED ? held->argv_quality : 0]);
}

bool status_may_see(uint32_t viewer, uint32_t owner) {
  return viewer == 0 || viewer == geteuid() || viewer == owner;
}

/* Excludes processes that have their own row. */
static uint64_t cpu_of_tree(const struct residual *residual) {
  return residual->total_ns > residual->elsewhere_ns ? residual->total_ns - residual->elsewhere_ns
                                                     : 0;
}

static void print_target(const struct worker *worker, const struct target *target,
                         struct buf *out) {
  const struct hold_target *held = &target->held;
  const struct process *root = processes_find(worker->processes, held->pid);
  const char *exe = root && root->exe ? root->exe : held->exe;
  char why[CENSUS_WHY_BYTES + INTAKE_WHY_BYTES];
  uint64_t cpu_ns = held->kind == HOLD_PERF ? cpu_of_tree(&target->residual) : target->weight_ns;
  buf_append_byte(out, '{');
  json_number(out, "id", held->id);
  json_number(out, "pid", (uint64_t)held->pid);
  json_string(out, "service", switchboard_service(worker, target));
  json_string(out, "exe", exe);
  json_string(out, "sampler", target_sampler(target));
  target_explain(target, why, sizeof why);
  json_string(out, "why", why);
  if (held->kind == HOLD_PERF)
    json_bool(out, "samples_kernel", (held->content & PERF_CONTENT_KERNEL) != 0);
  json_fraction(out, "asked_hz", rate_wish_mhz(target) / 1000.0);
  json_fraction(out, "rate_hz", 1e9 / (double)rate_period_ns(target));
  json_string(out, "rate_reason", rate_reason(target));
  json_fraction(out, "achieved_hz", target_achieved_mhz(target) / 1000.0);
  json_number(out, "samples", target->records);
  json_fraction(out, "unsampled_share", target_unsampled_share(target));
  json_number(out, "stolen_ns", target->residual.steal.stolen_ns);
  print_stacks(target, out);
  json_number(out, "thinned", target->rate.thinned);
  json_number(out, "throttled", target->rate.throttled);
  json_number(out, "sample_ns", cost_sample_ns(budget_meter(worker->budget), target));
  if (held->collect != RING_RECORDER) json_fraction(out, "cpu_seconds", (double)cpu_ns / 1e9);
  print_ring(target, out);
  if (held->argv_quality != INTAKE_ARGV_NONE) print_argv(held, out);
  print_labels(out, held->labels);
  print_census(target, out);
  json_string(out, "state", switchboard_state(worker, target));
  json_number(out, "timers_left", switch_timers_left(target));
  json_bool(out, "ended", target->ended_ns != 0);
  buf_append_byte(out, '}');
}

void status_print_targets(const struct worker *worker, uint32_t viewer, struct buf *out) {
  uint32_t hidden = 0, printed = 0;
  json_name(out, "targets");
  buf_append_byte(out, '[');
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.behind != 0) continue;
    if (!status_may_see(viewer, target->held.uid)) {
      hidden++;
      continue;
    }
    if (printed++ > 0) buf_append_byte(out, ',');
    print_target(worker, target, out);
  }
  buf_append_byte(out, ']');
  json_number(out, "targets_hidden", hidden);
}

/* Named as its samples are; the agent's path is more exact than the command line's. */
static void print_service(const struct worker_note *note, struct buf *out) {
  char exe[INTAKE_PATH_BYTES];
  struct hold_target held = {.pid = note->pid};
  struct process process = {.exe = exe};
  memcpy(exe, note->exe, sizeof exe);
  memcpy(held.exe, note->exe, sizeof held.exe);
  memcpy(held.service, note->service, sizeof held.service);
  memcpy(process.begun_as, note->begun_as, sizeof process.begun_as);
  json_string(out, "service", service_name(&held, &process));
}

void status_print_notes(const struct worker *worker, uint32_t viewer, struct buf *out) {
  char unsampled[INTAKE_WHY_BYTES];
  json_name(out, "notes");
  buf_append_byte(out, '[');
  for (unsigned i = 0, printed = 0; i < WORKER_NOTES_MAX; i++) {
    const struct worker_note *note = &worker->notes[i];
    if (note->serial == 0 || !status_may_see(viewer, note->uid)) continue;
    if (printed++ > 0) buf_append_byte(out, ',');
    buf_append_byte(out, '{');
    json_number(out, "serial", note->serial);
    json_number(out, "pid", (uint64_t)note->pid);
    print_service(note, out);
    json_string(out, "sampler", note->sampler);
    json_string(out, "why", note->why);
    run_note_unsampled(worker, note, unsampled);
    json_string(out, "unsampled", unsampled);
    struct run_samples samples = run_note_samples(worker, note);
    json_number(out, "samples", samples.by_agent + samples.by_perf);
    json_bool(out, "ended", !run_note_does_run(note));
    buf_append_byte(out, '}');
  }
  buf_append_byte(out, ']');
}
