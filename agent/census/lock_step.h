/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether a timer's samples of a thread are reliable, or the thread is synchronized with the
   tick. */
#ifndef CENSUS_LOCK_STEP_H
#define CENSUS_LOCK_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* Statistics of a thread's records since it, or the rate, began. */
struct lock_step_tally {
  uint64_t records;
  uint64_t weights; /* expiries */
  uint64_t squares; /* sum of weight * weight */
};

/* A thread's activity between two looks. */
struct lock_step_pace {
  uint64_t elapsed_ns, cpu_ns;
  uint64_t sleeps; /* voluntary switches */
};

/* Adds a record of WEIGHT expiries. Old records fade. */
void lock_step_count(struct lock_step_tally *tally, uint32_t weight);

/* True if it runs in bursts shorter than the tick, with enough CPU time to matter. Pure. */
bool lock_step_is_bursty(const struct lock_step_pace *pace, uint64_t tick_ns);

/* True if it wakes up n times a tick, or every n-th tick, n up to 4, within 2 %. Pure. */
bool lock_step_is_locked(const struct lock_step_pace *pace, uint64_t tick_ns);

/* True if the records of a bursty thread cannot result from ticks at random moments, beyond doubt.
   Pure. */
bool lock_step_is_unfair(const struct lock_step_tally *tally, uint64_t period_ns, uint64_t tick_ns);

/* The kernel's tick in nanoseconds. */
uint64_t lock_step_tick_ns(void);

#endif
