/* SPDX-License-Identifier: Apache-2.0 */
/* Thinning preserves the sum and the shares. Sampled time is divided into stretches of one wanted
   period. In each a point is drawn, and the sample that covers it stands for the whole stretch:

     samples    |--|--|--|--|--|--|--|--|--|--|--|--|       each as long as its event's period
     stretches  |-----x-----|-x---------|--------x--|       wanted period; x: drawn

   Each sample is kept with probability old/new for any rhythm of the program. The sum of weights is
   off by at most one period. Independent draws would be off by the square root of their number
   (measured on 4000 Hz thinned to 100 Hz over ten seconds: 3 %).

   A sample that is kept whole stands for its event's period, and no two strides have the same
   (stride.c). Exact to the nanosecond, that makes a quarter of a batch, because it does not
   compress. So weights are in quarters of the wanted period, and the remainder is added to the next
   sample. */
#include "rate.h"
#include "stride.h"
#include "switch.h"
#include "target.h"

#include "common/clock.h"
#include "ring/ring_switch.h"

#include <errno.h>
#include <stdlib.h>

enum {
  SMALL_PART = 20, /* of a period: smaller changes are ignored */
  STALE_PART = 4,  /* of the samples: fewer cannot change the shares much */
  STALE_MIN = 20,
  WEIGHT_PARTS = 4,      /* of a period: coarser ones make samples' weights differ by half */
  AUTO_UNSEEN_PART = 20, /* of the time */
  AUTO_PART = 8,         /* of a period; each change restarts the threads' events */
};
/* For an automatic rate. In a short run a thousand samples are worth most. It gets them if they
   cost at most half as much again as a later second may. */
#define AUTO_SHARE 0.01 /* of the CPU time, for samples */
#define AUTO_FIRST_SHARE 0.015
#define AUTO_FIRST_SECONDS 2.0
#define AUTO_FIRST_SAMPLES 1100.0
#define AUTO_FAST_SECONDS 0.25             /* at the start rate, at any cost: about 4 ms */
#define AUTO_SAMPLES_OF_AGE 5000.0         /* in twice the time 3500 more */
#define AUTO_DAEMON_NS 4000                /* to drain, walk and book one (docs/performance.md) */
#define SCALED_NS_MAX UINT64_C(1000000000) /* no budget lowers the rate below 1 Hz */

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

uint64_t rate_period_ns(const struct target *target) {
  const struct hold_target *held = &target->held;
  return held->set_period_ns != 0 ? held->set_period_ns : held->period_ns;
}

uint64_t rate_longest_ns(const struct target *target) {
  uint64_t longest = larger(target->rate.longest_ns, rate_period_ns(target));
  return longest + longest / STRIDE_PART;
}

uint64_t rate_held_ns(const struct target *target, uint32_t threads) {
  uint32_t cpus =
      target->perf != NULL && target->perf->count > 0 ? target->perf->count : target->held.fd_count;
  return (uint64_t)threads * cpus * rate_longest_ns(target);
}

/* The multiple of UNIT_NS nearest to NS. */
static uint64_t nearest(uint64_t ns, uint64_t unit_ns) {
  return (ns + unit_ns / 2) / unit_ns * unit_ns;
}

/* Returns the period requested of the ring, at least one of its units. */
static uint64_t set_ring(struct target *target, uint64_t period_ns) {
  uint64_t unit_ns = target->held.unit_ns ? target->held.unit_ns : target->held.period_ns;
  period_ns = larger(nearest(period_ns, unit_ns), unit_ns);
  uint64_t near_ns = stride_near_timer(period_ns, rate_random(&target->rate));
  ring_switch_set_period(&target->ring, larger(nearest(near_ns, unit_ns), unit_ns));
  switch_publish(target);
  return period_ns;
}

int rate_set(struct target *target, uint64_t period_ns) {
  struct rate *rate = &target->rate;
  uint64_t before = rate_period_ns(target);
  if (period_ns < RATE_PERIOD_NS_MIN || period_ns > RATE_PERIOD_NS_MAX) return -EINVAL;
  int error = 0;
  if (target->held.kind != HOLD_TIMER)
    error = stride_set_all(target, period_ns);
  else
    period_ns = set_ring(target, period_ns);
  if (error) return error;
  rate->longest_ns = larger(larger(rate->longest_ns, before), period_ns);
  target->residual.kernel.lost_ns += rate_held_ns(target, 1); /* for the started periods */
  rate->stretch_ns = rate->pick_ns = 0;
  rate->rest_ns = 0;
  rate->inherited = rate->astray = rate->apart_at_ns = rate->apart_wait_ns = 0;
  target->held.set_period_ns = period_ns;
  target_begin_achieved(target);
  return 0;
}

static uint64_t wish_ns(const struct target *target) {
  const struct hold_target *held = &target->held;
  if (held->wish_period_ns != 0) return held->wish_period_ns;
  return target->rate.auto_ns != 0 ? target->rate.auto_ns : held->period_ns;
}

/* The period at FACTOR of the requested rate. */
static uint64_t scaled_ns(const struct target *target, double factor) {
  uint64_t wish = wish_ns(target), longest = larger(wish, SCALED_NS_MAX);
  double scaled = (double)wish / factor;
  return scaled < (double)longest ? (uint64_t)scaled : longest;
}

int rate_wish(struct target *target, uint64_t period_ns) {
  uint64_t before = target->held.wish_period_ns;
  if (period_ns < RATE_PERIOD_NS_MIN || period_ns > RATE_PERIOD_NS_MAX) return -EINVAL;
  double factor = target->rate.factor > 0 ? target->rate.factor : 1;
  target->held.wish_period_ns = period_ns;
  int error = rate_set(target, scaled_ns(target, factor));
  if (error) target->held.wish_period_ns = before;
  return error;
}

bool rate_scale(struct target *target, double factor) {
  uint64_t now = rate_period_ns(target), wanted = scaled_ns(target, factor);
  bool is_small = wanted < now + now / SMALL_PART && wanted + wanted / SMALL_PART > now;
  bool is_back = factor >= 1 && now > wanted;
  if (is_small && !is_back) return false;
  if (rate_set(target, wanted) != 0) return false;
  target->rate.factor = factor;
  return true;
}

static double smaller(double a, double b) {
  return a < b ? a : b;
}

/* The number of samples allowed when UNTIL seconds of CPU time are spent. */
static double samples_allowed(double until, double sample_seconds) {
  double allowed = AUTO_SHARE * until / sample_seconds;
  if (until > AUTO_FIRST_SECONDS) return allowed;
  double least = smaller(AUTO_FIRST_SAMPLES, AUTO_FIRST_SHARE * until / sample_seconds);
  return allowed > least ? allowed : least;
}

uint64_t rate_auto_period_ns(const struct rate_spent *spent) {
  const double second = 1e9, start_hz = second / (double)RATE_AUTO_START_NS;
  double cpu = (double)spent->cpu_ns / second, sample = (double)(spent->sample_ns | 1) / second;
  if (cpu < AUTO_FAST_SECONDS) return RATE_AUTO_START_NS;
  double until = cpu < AUTO_FIRST_SECONDS ? AUTO_FIRST_SECONDS : cpu + 1;
  double left = until - cpu > AUTO_FAST_SECONDS ? until - cpu : AUTO_FAST_SECONDS;
  double hz = (samples_allowed(until, sample) - (double)spent->samples) / left;
  bool has_short_tasks = spent->unseen_ns > spent->cpu_ns / AUTO_UNSEEN_PART;
  hz = smaller(hz, has_short_tasks ? start_hz : AUTO_SAMPLES_OF_AGE / cpu);
  hz = smaller(hz, start_hz);
  if (hz * (double)RATE_AUTO_FLOOR_NS <= second) return RATE_AUTO_FLOOR_NS;
  uint64_t period_ns = (uint64_t)(second / hz);
  /* A timer with a period below a tick makes no more samples than ticks. A period of nearly a tick
     makes fewer: it often ends just after one. */
  return period_ns <= spent->tick_ns ? RATE_AUTO_START_NS : period_ns;
}

void rate_auto_restore(struct target *target) {
  if (!target->held.is_auto_rate) return;
  target->rate.auto_ns = RATE_AUTO_FLOOR_NS;
  target->rate.auto_past_ns =
      (uint64_t)(AUTO_SAMPLES_OF_AGE * (double)RATE_AUTO_FLOOR_NS); /* CPU time that leads there */
}

bool rate_auto_step(struct target *target, uint64_t sample_ns, uint64_t tick_ns) {
  struct rate *rate = &target->rate;
  const struct hold_target *held = &target->held;
  if (!held->is_auto_rate || held->wish_period_ns != 0 || held->control != RING_RUN) return false;
  uint64_t before = rate->auto_ns, now = wish_ns(target), cpu_ns = target->weight_ns;
  if (held->kind == HOLD_PERF) target_read_total(target);
  if (residual_own_ns(&target->residual) > cpu_ns) cpu_ns = residual_own_ns(&target->residual);
  uint64_t wanted = rate_auto_period_ns(&(struct rate_spent){
      .cpu_ns = cpu_ns + rate->auto_past_ns,
      .unseen_ns = rate->unseen_ns,
      .samples = target->records + rate->thinned + rate->foreign,
      .sample_ns = sample_ns + AUTO_DAEMON_NS,
      .tick_ns = held->kind == HOLD_TIMER ? tick_ns : 0,
  });
  bool is_small = wanted < now + now / AUTO_PART && wanted + wanted / AUTO_PART > now;
  bool is_last = wanted == RATE_AUTO_FLOOR_NS && now != wanted;
  if (is_small && !is_last) return false;
  rate->auto_ns = wanted;
  if (rate_set(target, scaled_ns(target, rate->factor > 0 ? rate->factor : 1)) == 0) return true;
  rate->auto_ns = before;
  return false;
}

uint32_t rate_wish_mhz(const struct target *target) {
  bool is_as_asked = target->held.wish_period_ns == 0 && target->rate.auto_ns == 0;
  return is_as_asked ? target->held.asked_mhz
                     : (uint32_t)(UINT64_C(1000000000000) / wish_ns(target));
}

const char *rate_reason(const struct target *target) {
  uint64_t rounded_ns = target->held.kind == HOLD_TIMER ? target->held.unit_ns / 2 : 0;
  uint64_t most_ns = wish_ns(target) + larger(wish_ns(target) / SMALL_PART, rounded_ns);
  if (rate_period_ns(target) > most_ns) return "budget";
  if (target->rate.throttled > 0) return "throttled";
  if (target->held.wish_period_ns != 0) return "ctl";
  return target->held.is_auto_rate ? "budget" : "asked";
}

uint64_t rate_random(struct rate *rate) {
  if (rate->random == 0) rate->random = (clock_monotonic_ns() ^ (uint64_t)(uintptr_t)rate) | 1;
  rate->random ^= rate->random << 13; /* xorshift */
  rate->random ^= rate->random >> 7;
  rate->random ^= rate->random << 17;
  return rate->random;
}

/* Advances by PERIOD_NS of sampled time. Returns WANTED_NS times the number of stretches with a
   point in it. */
static uint64_t thin(struct rate *rate, uint64_t period_ns, uint64_t wanted_ns) {
  uint64_t weight_ns = 0, end = rate->stretch_ns + period_ns;
  if (rate->stretch_ns == 0) rate->pick_ns = rate_random(rate) % wanted_ns;
  if (rate->pick_ns >= rate->stretch_ns && rate->pick_ns < end) weight_ns = wanted_ns;
  if (end >= wanted_ns) { /* into the next stretch, and no further: period_ns < wanted_ns */
    end -= wanted_ns;
    rate->pick_ns = rate_random(rate) % wanted_ns;
    if (rate->pick_ns < end) weight_ns += wanted_ns;
  }
  rate->stretch_ns = end;
  if (weight_ns == 0) rate->thinned++;
  return weight_ns;
}

/* Rounds PERIOD_NS, at least half of WANTED_NS, plus the remainder of earlier samples to whole
   parts of WANTED_NS. */
static uint64_t in_parts(struct rate *rate, uint64_t period_ns, uint64_t wanted_ns) {
  uint64_t held_ns = (uint64_t)((int64_t)period_ns + rate->rest_ns);
  uint64_t told_ns = nearest(held_ns, wanted_ns / WEIGHT_PARTS);
  rate->rest_ns = (int64_t)(held_ns - told_ns);
  return told_ns;
}

uint64_t rate_part_ns(const struct target *target) {
  return rate_period_ns(target) / WEIGHT_PARTS;
}

uint64_t rate_weigh(struct target *target, const struct stride_sample *sample) {
  uint64_t period_ns = stride_take(target, sample), wanted_ns = rate_period_ns(target);
  if (period_ns == 0 || wanted_ns < WEIGHT_PARTS) return period_ns;
  if (period_ns >= wanted_ns || stride_is_near(period_ns, wanted_ns))
    return in_parts(&target->rate, period_ns, wanted_ns);
  return thin(&target->rate, period_ns, wanted_ns);
}

bool rate_take_stale(struct target *target) {
  struct rate *rate = &target->rate;
  uint64_t all = target->records - rate->told_records, stale = rate->stale;
  rate->told_records = target->records;
  rate->stale = 0;
  return stale >= STALE_MIN && stale >= all / STALE_PART;
}

void rate_fini(struct rate *rate) {
  free(rate->strides);
  rate->strides = NULL;
}
