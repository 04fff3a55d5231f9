/* SPDX-License-Identifier: Apache-2.0 */
/* The budget's report, for `fleetprof status`, and for the collector with a ping or a batch:
   periodically, or when its subject has changed.  The target with the most samples represents the
   board; without targets, the one that ended last. */
#include "budget_parts.h"
#include "worker.h"

#include "common/clock.h"

#define TOLD_NS (60 * NS_PER_SECOND) /* a ping is sent every 15 s, and bytes are costly */
#define STUCK_SHARE 0.2              /* of the budget */

/* Includes bytes that the budget has not yet acted on. */
static double bytes_in_a_day(const struct worker *worker) {
  const struct budget *budget = worker->budget;
  struct spool_figures spool;
  spool_figures(worker->spool, &spool);
  double sum = (double)(spool.bytes_written - budget->spooled_bytes);
  for (unsigned i = 0; i < BUDGET_HOURS; i++) sum += budget->hour_bytes[i];
  return sum;
}

/* The budget is exceeded by targets that it does not limit. */
static bool is_unheld(const struct worker *worker) {
  const struct budget *budget = worker->budget;
  const struct settings *settings = worker->settings;
  if (!budget->has_unheld) return false;
  return (budget->cpu.rate > 0 && budget->added_percent > settings->budget_cpu) ||
         (budget->bytes.rate > 0 && bytes_in_a_day(worker) > (double)settings->budget_bytes_day);
}

static const char *state_of(const struct worker *worker) {
  const struct budget *budget = worker->budget;
  if (budget->cpu.rate <= 0 && budget->bytes.rate <= 0) return "off";
  if (is_unheld(worker)) return "unheld";
  if (budget->factor < 1 && budget->factor <= budget->floor) return "floor";
  if (pace_is_taken(&budget->cpu)) return "daemon";
  if (budget->factor >= 1) {
    bool is_longer = budget_window_ns(budget, 0) > 0;
    return is_longer ? "window" : "within";
  }
  if (budget->stuck_percent * 1e7 > budget->cpu.rate * STUCK_SHARE && budget->cpu.rate > 0)
    return "threads";
  return budget->cpu.factor <= budget->bytes.factor ? "cpu" : "bytes";
}

static const struct target *busiest_target(const struct worker *worker) {
  const struct target *busiest = NULL;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target == NULL) continue;
    if (busiest == NULL || target->records > busiest->records) busiest = target;
  }
  return busiest;
}

static struct shown show(const struct budget *budget, const struct target *target) {
  struct shown shown = {.asked_mhz = rate_wish_mhz(target),
                        .sample_ns = cost_sample_ns(&budget->meter, target),
                        .reason = rate_reason(target)};
  cost_handler(&budget->meter, target, &shown.handler);
  return shown;
}

void budget_note_end(struct budget *budget, const struct target *target) {
  struct ring_cost handler = budget->last.handler;
  if (target->records == 0) return;
  budget->last = show(budget, target);
  if (budget->last.handler.runs == 0) budget->last.handler = handler;
}

static void find_handler(const struct worker *worker, struct ring_cost *ret) {
  struct ring_cost one;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    const struct target *target = worker->targets.rows[row];
    if (target == NULL || !cost_handler(&worker->budget->meter, target, &one)) continue;
    if (one.runs > ret->runs) *ret = one;
  }
}

/* Until there is an average, the average so far. */
static double percent_of(const struct budget *budget, double average, double spent_ns) {
  uint64_t span_ns = budget->look_ns - budget->cpu_step_ns;
  bool is_first = budget->is_begun && budget->added_percent <= 0 && span_ns > 0;
  return is_first ? spent_ns / (double)span_ns * 100 : average;
}

void budget_figures(const struct worker *worker, struct budget_figures *ret) {
  const struct budget *budget = worker->budget;
  const struct cost_spent *spent = &budget->spent;
  const struct target *busiest = busiest_target(worker);
  struct shown shown = busiest ? show(budget, busiest) : budget->last;
  *ret = (struct budget_figures){
      .cpu_percent = worker->settings->budget_cpu,
      .bytes_day = (double)worker->settings->budget_bytes_day,
      .is_given = budget_is_given(worker->settings),
      .daemon_percent = percent_of(budget, budget->daemon_percent, spent->daemon_ns),
      .added_percent =
          percent_of(budget, budget->added_percent, spent->daemon_ns + spent->samples_ns),
      .cpu_fill = pace_fill(&budget->cpu),
      .bytes_fill = pace_fill(&budget->bytes),
      .factor = budget->factor,
      .machine = budget->meter.machine,
      .asked_mhz = shown.asked_mhz,
      .sample_ns = shown.sample_ns,
      .reason = shown.reason,
      .spent_bytes_day = bytes_in_a_day(worker),
      .state = state_of(worker)};
  find_handler(worker, &ret->handler);
  if (ret->handler.runs == 0) ret->handler = budget->last.handler;
}

/* Figures drift and are reported periodically; a change of their subject, or their first value, is
   reported at once. */
static bool is_same(const struct budget_figures *a, const struct budget_figures *b) {
  return a->state == b->state && a->reason == b->reason && /* constants */
         a->asked_mhz == b->asked_mhz && (a->sample_ns != 0) == (b->sample_ns != 0) &&
         (a->handler.runs != 0) == (b->handler.runs != 0) &&
         (a->added_percent > 0) == (b->added_percent > 0);
}

bool budget_is_news(struct budget *budget, const struct budget_figures *figures) {
  uint64_t now = clock_monotonic_ns();
  if (is_same(figures, &budget->told) && now - budget->told_ns < TOLD_NS) return false;
  budget->told = *figures;
  budget->told_ns = now;
  return true;
}
