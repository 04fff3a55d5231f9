/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a timer's samples of a thread can be believed: does it keep step with the tick? */
#ifndef CENSUS_LOCK_STEP_H
#define CENSUS_LOCK_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* What a thread's records were like since it, or the rate, began. */
struct lock_step_tally {
  uint64_t records;
  uint64_t weights; /* expiries */
  uint64_t squares; /* sum of weight * weight */
};

/* What a thread did between two looks. */
struct lock_step_pace {
  uint64_t elapsed_ns, cpu_ns;
  uint64_t sleeps; /* times that it gave up the CPU by itself */
};

/* Takes in one record that stands for WEIGHT expiries.  Old ones fade. */
void lock_step_count(struct lock_step_tally *tally, uint32_t weight);

/* Runs in bursts shorter than the tick, and enough for it to matter.  Pure. */
bool lock_step_is_bursty(const struct lock_step_pace *pace, uint64_t tick_ns);

/* Wakes up n times a tick, or every n-th, n up to 4, within 2 %.  Pure. */
bool lock_step_is_locked(const struct lock_step_pace *pace, uint64_t tick_ns);

/* The records of a bursty thread are not what ticks at random moments would have made, beyond
   doubt.  Pure. */
bool lock_step_is_unfair(const struct lock_step_tally *tally, uint64_t period_ns, uint64_t tick_ns);

/* Nanoseconds of the kernel's tick. */
uint64_t lock_step_tick_ns(void);

#endif
