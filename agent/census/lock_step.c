/* SPDX-License-Identifier: Apache-2.0 */
/* An expired CPU-time timer is noticed at the next tick that finds its thread running. A thread
   that runs through many ticks is sampled fairly. A thread that runs in bursts shorter than a tick
   is sampled fairly only while ticks hit its bursts at random. Then the CPU time between two hits
   is distributed exponentially with a mean of one tick T. Of the timer's expiries (one each period
   P) the fraction

     p = 1 - exp(-P / T)

   makes a record, and the weights of records are geometric: mean 1/p, variance (1-p)/p^2. Both can
   be estimated from the records alone. (Bursts that fill most of the time are hit more regularly:
   then up to P / T of the expiries make a record, and weights scatter less.) A synchronized program
   differs. Ticks that miss its bursts, or hit them in runs (a few rounds in a row, then none), make
   fewer records with scattered weights. Ticks that hit every burst make more. Measured at
   CONFIG_HZ=250 over 15 s, two functions 2:1 after each sleep, at 99, 250 and 1000 Hz:

                                      records / expected   variance / geometric   error of the share
     3 ms sleep, cycle of 4.0 ms           0.66 1.61              2.2 - 8.4         up to 30 points
     3 ms sleep, other cycles           0.93 - 1.16             0.17 - 1.0        up to 25, mostly 3
     random sleeps of 3 ms              0.97 - 1.05             0.49 - 1.05                   3

   So a test of these finds the worst programs and flagged no random one. If a full CPU makes the
   scheduler switch at ticks, programs with other cycles are wrong as well, without a sign: those
   remain "possible", as every bursty program does.

   Tests are at four or five standard deviations, because they are repeated often. */
#include "lock_step.h"

#include <time.h>

enum {
  FADE_WEIGHTS = 4000, /* then all are halved, so that a mark can disappear */
  RECORDS_MIN = 50,
  CPU_PERCENT_MIN = 1, /* of the time between two looks; less is too little to attribute */
  HARMONICS = 4,
};

#define LOCK_TOLERANCE 0.02
#define RATE_OFF_MIN 0.15
#define SCATTER_MIN 1.5
#define RATE_SIGMAS_SQUARED 25.0
#define SCATTER_SIGMAS_SQUARED 16.0

void lock_step_count(struct lock_step_tally *tally, uint32_t weight) {
  tally->records++;
  tally->weights += weight;
  tally->squares += (uint64_t)weight * weight;
  if (tally->weights < FADE_WEIGHTS) return;
  tally->records /= 2;
  tally->weights /= 2;
  tally->squares /= 2;
}

bool lock_step_is_bursty(const struct lock_step_pace *pace, uint64_t tick_ns) {
  if (pace->sleeps == 0 || pace->cpu_ns / pace->sleeps >= tick_ns) return false;
  return pace->cpu_ns >= pace->elapsed_ns / 100 * CPU_PERCENT_MIN;
}

static bool is_near(double value, double wanted) {
  return value > wanted * (1 - LOCK_TOLERANCE) && value < wanted * (1 + LOCK_TOLERANCE);
}

bool lock_step_is_locked(const struct lock_step_pace *pace, uint64_t tick_ns) {
  if (pace->elapsed_ns == 0) return false;
  double a_tick = (double)pace->sleeps * (double)tick_ns / (double)pace->elapsed_ns;
  for (int n = 1; n <= HARMONICS; n++)
    if (is_near(a_tick, n) || is_near(a_tick, 1.0 / n)) return true;
  return false;
}

/* exp(-x) to three digits, more than the test needs. */
static double decay(double x) {
  double power = 1 + x / 4096;
  if (x > 50) return 0;
  for (int i = 0; i < 12; i++) power *= power;
  return 1 / power;
}

/* The largest fair fraction of expiries that make a record: ticks hit a thread that runs nearly all
   the time at regular intervals. */
static double most(uint64_t period_ns, uint64_t tick_ns) {
  return period_ns >= tick_ns ? 1 : (double)period_ns / (double)tick_ns;
}

/* True if a fraction near P of WEIGHTS trials exceeds the fair value by EXCESS, too much for
   chance. */
static bool is_off(double excess, double p, double weights) {
  return excess > RATE_OFF_MIN * p && excess * excess * weights > RATE_SIGMAS_SQUARED * p * (1 - p);
}

bool lock_step_is_unfair(const struct lock_step_tally *tally, uint64_t period_ns,
                         uint64_t tick_ns) {
  double p = 1 - decay((double)period_ns / (double)tick_ns);
  double records = (double)tally->records, weights = (double)tally->weights;
  if (tally->records == 0 || weights * p < RECORDS_MIN || p > 0.99 || p <= 0) return false;
  bool is_rate_off = is_off(p - records / weights, p, weights) ||
                     is_off(records / weights - most(period_ns, tick_ns), p, weights);
  double mean = weights / records;
  double scatter = ((double)tally->squares / records - mean * mean) * p * p / (1 - p);
  /* The fourth moment of a geometric distribution bounds the deviation of its sample variance. */
  double stray = (8 + p * p / (1 - p)) / records;
  bool is_scattered = scatter > SCATTER_MIN && tally->records >= RECORDS_MIN &&
                      (scatter - 1) * (scatter - 1) > SCATTER_SIGMAS_SQUARED * stray;
  return is_rate_off || is_scattered;
}

uint64_t lock_step_tick_ns(void) {
  /* The coarse clocks advance only at the tick. */
  struct timespec step;
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &step) != 0) return 10000000;
  return (uint64_t)step.tv_sec * 1000000000 + (uint64_t)step.tv_nsec;
}
