/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a sample in a target, measured by its agent at set-up with runs of the handler on
   forged events. While it samples, the handler reads no clock (preload/cost_setup.c). */
#ifndef RING_RING_COST_H
#define RING_RING_COST_H

#include "ring_reader.h"

/* The start point for measuring the counter's rate against CLOCK_MONOTONIC. A longer interval is
   more precise. */
struct ring_cost_clock {
  uint64_t start_ns, start_ticks;
};

struct ring_cost {
  uint64_t runs;           /* number of runs timed */
  uint64_t p50_ns, p99_ns; /* with warm caches; with cold caches */
};

void ring_cost_clock_start(struct ring_cost_clock *ret);

/* Returns 0 without a counter, or within the first millisecond. */
double ring_cost_ns_per_tick(const struct ring_cost_clock *clock);

/* Reads the target's measurement. Returns 0. -ENODATA if nothing was measured yet, or if it was in
   ticks and NS_PER_TICK is 0. -EBADMSG for impossible values: an unknown unit, or a 99th percentile
   below the median. */
int ring_cost_read(const struct ring_reader *ring, double ns_per_tick, struct ring_cost *ret);

#endif
