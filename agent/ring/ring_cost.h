/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample takes in a target, as its agent has timed it at set-up: runs of the handler on
   forged events.  While it samples the handler reads no clock (preload/cost_setup.c). */
#ifndef RING_RING_COST_H
#define RING_RING_COST_H

#include "ring_reader.h"

/* The rate of the counter against CLOCK_MONOTONIC; the longer ago the start, the better. */
struct ring_cost_clock {
  uint64_t start_ns, start_ticks;
};

struct ring_cost {
  uint64_t runs;           /* that were timed */
  uint64_t p50_ns, p99_ns; /* all it needs in the cache; nothing of it */
};

void ring_cost_clock_start(struct ring_cost_clock *ret);

/* 0 where there is no counter, or within the first millisecond. */
double ring_cost_ns_per_tick(const struct ring_cost_clock *clock);

/* Reads what the target has measured.  Returns 0, -ENODATA when nothing was measured yet
   (or it was in ticks and NS_PER_TICK is 0), or -EBADMSG for what cannot be: a unit that there is
   not, a 99th percentile below the median. */
int ring_cost_read(const struct ring_reader *ring, double ns_per_tick, struct ring_cost *ret);

#endif
