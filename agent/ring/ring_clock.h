/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks that can send a ring's signals, and the names of their samplers.

     thread     a POSIX timer for each thread, on its CPU time ("timer")
     prof       the process's interval timer on its user and system time ("itimer")
     virtual    the same on user time only ("itimer-virtual")

   The third interval timer, ITIMER_REAL, is not supported: it counts elapsed time, not CPU time,
   and its signals would interrupt the system calls of a sleeping program. */
#ifndef RING_RING_CLOCK_H
#define RING_RING_CLOCK_H

#include "ring_format.h"

#include <signal.h>
#include <string.h>

enum { RING_CLOCKS = 3 };

/* Warning for users who choose an interval timer. */
#define RING_CLOCK_DANGER \
  "asked for by name; survives exec and may kill the next program if that does not load the agent"

/* The sampler's name; "timer" for an unknown number. */
static inline const char *ring_clock_sampler(uint32_t clock) {
  static const char *const names[RING_CLOCKS] = {"timer", "itimer", "itimer-virtual"};
  return names[clock < RING_CLOCKS ? clock : RING_CLOCK_THREAD];
}

/* The clock of sampler NAME, or -1 if the agent has no sampler of that name. */
static inline int ring_clock_parse(const char *name) {
  for (int clock = 0; clock < RING_CLOCKS; clock++)
    if (strcmp(ring_clock_sampler((uint32_t)clock), name) == 0) return clock;
  return -1;
}

static inline int ring_clock_signal(uint32_t clock) {
  if (clock == RING_CLOCK_PROF) return SIGPROF;
  return clock == RING_CLOCK_VIRTUAL ? SIGVTALRM : SIGURG;
}

#endif
