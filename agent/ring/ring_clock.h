/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks that can make a ring's signals, and the samplers that are named after them.

   thread     one POSIX timer a thread, on that thread's CPU time ("timer")
   prof       the process's interval timer on its user and system time ("itimer")
   virtual    the same on user time only ("itimer-virtual")

   The third interval timer, ITIMER_REAL, is not offered: it counts time that passes, not time that
   a CPU is used, and its signals would interrupt the system calls of a program that sleeps. */
#ifndef RING_RING_CLOCK_H
#define RING_RING_CLOCK_H

#include "ring_format.h"

#include <signal.h>
#include <string.h>

enum { RING_CLOCKS = 3 };

/* What must be known before one chooses an interval timer. */
#define RING_CLOCK_DANGER \
  "asked for by name; survives exec and may kill the next program if that does not load the agent"

/* The sampler's name; "timer" for a number that means nothing. */
static inline const char *ring_clock_sampler(uint32_t clock) {
  static const char *const names[RING_CLOCKS] = {"timer", "itimer", "itimer-virtual"};
  return names[clock < RING_CLOCKS ? clock : RING_CLOCK_THREAD];
}

/* The clock of sampler NAME, or -1 when the agent has no such sampler. */
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
