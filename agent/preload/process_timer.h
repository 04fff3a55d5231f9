/* SPDX-License-Identifier: Apache-2.0 */
/* The interval timer on a process's own CPU time. There is one of each kind, which the agent shares
   with the program. */
#ifndef PRELOAD_PROCESS_TIMER_H
#define PRELOAD_PROCESS_TIMER_H

#include "ring/ring_format.h"

#include <stdbool.h>

/* Settings of a timer; CLOCK is not RING_CLOCK_THREAD. */
struct process_timer {
  enum ring_clock clock;
  uint64_t period_ns; /* rounded to the microsecond */
};

/* Sets OURS, with the first expiry after FIRST_NS. BEFORE_NS is the period that the agent set
   before, or 0. Returns 0, -EBUSY if another owner's timer runs (it is left alone), or -errno.
   Signal-safe. */
int process_timer_set(const struct process_timer *ours, uint64_t first_ns, uint64_t before_ns);

/* Stops OURS, if the timer is still that one.  Signal-safe. */
void process_timer_stop(const struct process_timer *ours);

/* True if a timer of CLOCK's kind runs; *RET_IS_PERIODIC is true if it repeats. */
bool process_timer_runs(enum ring_clock clock, bool *ret_is_periodic);

/* Stops any timer of CLOCK's kind. */
void process_timer_clear(enum ring_clock clock);

#endif
