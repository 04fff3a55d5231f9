/* SPDX-License-Identifier: Apache-2.0 */
/* A POSIX timer on a thread's own CPU time, which signals only that thread. */
#ifndef PRELOAD_SAMPLE_TIMER_H
#define PRELOAD_SAMPLE_TIMER_H

#include <stdint.h>

struct sample_timer_plan {
  int signal;
  uint64_t period_ns;
  uint64_t first_ns; /* in [1, period_ns] */
};

/* Makes a timer for thread TID of this process that delivers TOKEN with each expiry. Returns 0, or
   -errno (-EAGAIN: the user's limit of queued signals).  Signal-safe. */
int sample_timer_arm(const struct sample_timer_plan *plan, uint32_t tid, void *token,
                     int *ret_timer);

/* Gives TIMER another period.  Returns 0 or -errno.  Signal-safe. */
int sample_timer_set(const struct sample_timer_plan *plan, int timer);

/* CPU time until TIMER's next expiry, or 0 if there will be none.  Signal-safe. */
uint64_t sample_timer_left_ns(int timer);

/* Deletes TIMER. After this returns, no signal of it arrives, unless the thread blocks the signal
   or is already entering the handler.  Signal-safe. */
void sample_timer_disarm(int timer);

/* A first expiry for PERIOD_NS derived from SEED. It is uniform over the period, so that threads do
   not run in step and a thread of any length is sampled in proportion.  Signal-safe. */
uint64_t sample_timer_first_ns(uint64_t period_ns, uint64_t seed);

#endif
