/* SPDX-License-Identifier: Apache-2.0 */
/* The cost is added up once a second.  The rate controller of the CPU budget runs every ten
   seconds, or at once when the budget of ten seconds is used up.  That of the byte budget runs when
   a window has been spooled, because only then bytes are known.

   Targets with rates that are left alone (budget.h) bear their part of the daemon's time, by their
   number of samples.

   The first second is not counted: then the daemon starts, and reads the kernel's symbols and the
   mappings of all programs.

   Token buckets: CPU holds one minute's budget.  Bytes hold a quarter of a day's budget, and are
   filled by three quarters a day, so that any 24 hours stay within the whole. */
#include "budget_parts.h"
#include "worker.h"

#include "common/clock.h"
#include "uplink/debug_sender.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_NS NS_PER_SECOND
#define STEP_NS (10 * NS_PER_SECOND)
#define STEP_NS_LEAST (2 * NS_PER_SECOND)
#define BYTES_STEP_NS_MOST (120 * NS_PER_SECOND) /* if nothing is spooled */
#define WINDOW_NS_LONGEST (60 * NS_PER_SECOND)
#define PURSE_CPU_SECONDS 60.0
#define PURSE_BYTES_SHARE 0.25
#define WINDOW_GROWS_BELOW 0.75 /* of the byte bucket; rates fall below a half (pace.c) */
#define WINDOW_LONGEST_AT 0.5
#define DAY_SECONDS 86400.0
#define HOUR_NS (3600 * NS_PER_SECOND)
#define MINUTE_SECONDS 60.0
#define FLOOR_MHZ 1000.0

static double seconds(uint64_t ns) {
  return (double)ns / 1e9;
}

int budget_open(const struct worker *worker, struct budget **ret) {
  const struct settings *settings = worker->settings;
  struct budget *budget = calloc(1, sizeof *budget);
  if (budget == NULL) return -ENOMEM;
  /* With an output file no bytes are sent, and the defaults are meant for boards that are sampled
     all day. */
  bool is_file = worker->keeper->output >= 0;
  double cpu_ns = is_file && !settings->is_budget_cpu_given ? 0 : settings->budget_cpu / 100 * 1e9;
  double bytes_day = is_file ? 0 : (double)settings->budget_bytes_day;
  budget->cpu = pace_start(cpu_ns, cpu_ns * PURSE_CPU_SECONDS);
  budget->bytes =
      pace_start(bytes_day * (1 - PURSE_BYTES_SHARE) / DAY_SECONDS, bytes_day * PURSE_BYTES_SHARE);
  budget->factor = 1;
  budget->last = (struct shown){.asked_mhz = (uint32_t)settings->hz * 1000, .reason = "asked"};
  cost_start(&budget->meter, getppid());
  budget->start_ns = budget->look_ns = clock_monotonic_ns();
  budget->cpu_step_ns = budget->bytes_step_ns = budget->start_ns;
  *ret = budget;
  return 0;
}

void budget_close(struct budget *budget) {
  free(budget);
}

bool budget_is_given(const struct settings *settings) {
  return settings->is_budget_cpu_given || settings->is_budget_bytes_given;
}

/* The default budget limits only targets with the default rate. */
static bool is_bounded(const struct settings *settings, const struct target *target) {
  if (budget_is_given(settings)) return true;
  if (target->held.wish_period_ns != 0) return false;
  return target->held.is_auto_rate || target->held.asked_mhz <= settings->hz * 1000;
}

static void mark_targets(struct worker *worker) {
  const struct settings *settings = worker->settings;
  double fastest = 0;
  worker->budget->has_unheld = false;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL) continue;
    target->rate.is_bounded = is_bounded(settings, target);
    if (!target->rate.is_bounded) worker->budget->has_unheld = true;
    double mhz = rate_wish_mhz(target);
    if (target->rate.is_bounded && mhz > fastest) fastest = mhz;
  }
  worker->budget->floor = fastest > FLOOR_MHZ ? FLOOR_MHZ / fastest : 1;
}

/* The part of the daemon's work that is done for limited targets. */
static double bounded_share(const struct cost_spent *spent) {
  return spent->samples > 0 ? spent->bounded / spent->samples : 1;
}

static void average(double *value, double now, double span, double of) {
  double weight = span < of ? span / of : 1;
  *value += (now - *value) * weight;
}

static void step_cpu(struct budget *budget, uint64_t now) {
  struct cost_spent *spent = &budget->spent;
  double span = seconds(now - budget->cpu_step_ns), age = seconds(now - budget->start_ns);
  double allowed = pace_allowance(&budget->cpu) * seconds(STEP_NS);
  double fixed = spent->daemon_ns * bounded_share(spent), units = fixed + spent->bounded_ns;
  bool is_overdrawn = budget->cpu.rate > 0 && units > allowed && span >= seconds(STEP_NS_LEAST);
  if (span < seconds(STEP_NS) && !is_overdrawn) return;
  pace_step(&budget->cpu,
            &(struct pace_spent){
                .seconds = span, .units = units, .fixed = fixed, .factor = budget->factor});
  double of = age < MINUTE_SECONDS ? age : MINUTE_SECONDS;
  average(&budget->daemon_percent, spent->daemon_ns / span / 1e7, span, of);
  average(&budget->added_percent, (spent->daemon_ns + spent->samples_ns) / span / 1e7, span, of);
  average(&budget->stuck_percent, spent->stuck_ns / span / 1e7, span, of);
  *spent = (struct cost_spent){.daemon_ns = 0};
  budget->cpu_step_ns = now;
}

static void count_bytes(struct budget *budget, uint64_t now, double bytes) {
  uint64_t hour = (now - budget->start_ns) / HOUR_NS;
  for (; budget->hour < hour; budget->hour++)
    budget->hour_bytes[(budget->hour + 1) % BUDGET_HOURS] = 0;
  budget->hour_bytes[hour % BUDGET_HOURS] += bytes;
}

static void step_bytes(struct worker *worker, uint64_t now) {
  struct budget *budget = worker->budget;
  struct spool_figures spool;
  double span = seconds(now - budget->bytes_step_ns);
  if (worker->shipper.batches == budget->batches &&
      now - budget->bytes_step_ns < BYTES_STEP_NS_MOST)
    return;
  spool_figures(worker->spool, &spool);
  double bytes = (double)(spool.bytes_written - budget->spooled_bytes);
  double units = bytes * bounded_share(&budget->of_window);
  pace_step(&budget->bytes,
            &(struct pace_spent){.seconds = span, .units = units, .factor = budget->factor});
  count_bytes(budget, now, bytes);
  budget->of_window = (struct cost_spent){.daemon_ns = 0};
  budget->spooled_bytes = spool.bytes_written;
  budget->batches = worker->shipper.batches;
  budget->bytes_step_ns = now;
}

static void apply(struct worker *worker) {
  struct budget *budget = worker->budget;
  budget->factor =
      budget->cpu.factor < budget->bytes.factor ? budget->cpu.factor : budget->bytes.factor;
  if (budget->factor < budget->floor) budget->factor = budget->floor;
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = worker->targets.rows[row];
    if (target == NULL || target->held.behind != 0) continue;
    /* False if the perf ring is not drained yet: retried in a second. */
    if (rate_scale(target, target->rate.is_bounded ? budget->factor : 1))
      hold_send_update(worker->keeper->worker_socket, &target->held);
  }
}

void budget_begin_target(struct worker *worker, struct target *target) {
  double factor = worker->budget->factor;
  if (!target->held.is_auto_rate || factor >= 1) return;
  target->rate.is_bounded = true;
  if (rate_scale(target, factor)) hold_send_update(worker->keeper->worker_socket, &target->held);
}

/* The cost of the start occurs once, and no rate can lower it. */
static void begin(struct budget *budget, uint64_t now) {
  budget->is_begun = true;
  budget->cpu_step_ns = budget->bytes_step_ns = budget->start_ns = now;
}

void budget_step(struct worker *worker) {
  struct budget *budget = worker->budget;
  uint64_t now = clock_monotonic_ns();
  if (now - budget->look_ns < LOOK_NS) return;
  budget->look_ns = now;
  struct cost_spent spent = {.daemon_ns = 0};
  mark_targets(worker);
  cost_look(&budget->meter, &worker->targets, debug_sender_cpu_ns(worker->debug), &spent);
  if (!budget->is_begun) {
    begin(budget, now);
    return;
  }
  budget->spent.daemon_ns += spent.daemon_ns;
  budget->spent.samples_ns += spent.samples_ns;
  budget->spent.stuck_ns += spent.stuck_ns;
  budget->spent.bounded_ns += spent.bounded_ns;
  budget->spent.samples += spent.samples;
  budget->spent.bounded += spent.bounded;
  budget->of_window.samples += spent.samples;
  budget->of_window.bounded += spent.bounded;
  step_cpu(budget, now);
  step_bytes(worker, now);
  apply(worker);
}

uint64_t budget_window_ns(const struct budget *budget, uint64_t asked_ns) {
  double fill = pace_fill(&budget->bytes);
  if (budget->bytes.rate <= 0 || fill >= WINDOW_GROWS_BELOW || asked_ns >= WINDOW_NS_LONGEST)
    return asked_ns;
  double part = (WINDOW_GROWS_BELOW - fill) / (WINDOW_GROWS_BELOW - WINDOW_LONGEST_AT);
  if (part > 1) part = 1;
  return asked_ns + (uint64_t)(part * (double)(WINDOW_NS_LONGEST - asked_ns));
}

const struct cost_meter *budget_meter(const struct budget *budget) {
  return &budget->meter;
}
