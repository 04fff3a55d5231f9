/* SPDX-License-Identifier: Apache-2.0 */
/* The interval timer on a process's own CPU time: there is one of each kind, for us and for the
   program itself. */
#ifndef PRELOAD_PROCESS_TIMER_H
#define PRELOAD_PROCESS_TIMER_H

#include "ring/ring_format.h"

#include <stdbool.h>

/* What one is set to; CLOCK is not RING_CLOCK_THREAD. */
struct process_timer {
  enum ring_clock clock;
  uint64_t period_ns; /* kept to the microsecond */
};

/* Sets OURS, to expire for the first time after FIRST_NS.  BEFORE_NS is the period that we set it
   to before, or 0.  Returns 0, -EBUSY when somebody else's runs (it is left alone), or -errno.
   Signal-safe. */
int process_timer_set(const struct process_timer *ours, uint64_t first_ns, uint64_t before_ns);

/* Stops OURS, where it is still that.  Signal-safe. */
void process_timer_stop(const struct process_timer *ours);

/* Whether a timer of the kind of CLOCK runs, and whether again and again. */
bool process_timer_runs(enum ring_clock clock, bool *ret_is_periodic);

/* Stops whatever runs. */
void process_timer_clear(enum ring_clock clock);

#endif
