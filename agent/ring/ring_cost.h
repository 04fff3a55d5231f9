/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of the handler takes in a target, as the target's own handler has timed it.

   It reads the CPU's counter at entry and exit of the runs that the daemon grants, and adds the
   difference to a bucket of the header.  Without a grant it never reads the counter: a program that
   entered a strict sandbox or forbade itself the counter would be killed for it.  So the daemon
   grants a few runs at a time to one process, after it saw that none of its threads is in a
   sandbox. At set-up, before any sandbox, the target times dry runs of the walk: a first guess. */
#ifndef RING_RING_COST_H
#define RING_RING_COST_H

#include "ring_reader.h"

enum { RING_COST_GRANT_MAX = 16 /* runs at a time: at 99 Hz 0.16 CPU seconds */ };

/* The rate of the counter against CLOCK_MONOTONIC; the longer ago the start, the better. */
struct ring_cost_clock {
  uint64_t start_ns, start_ticks;
};

struct ring_cost {
  uint64_t runs; /* that were timed */
  uint64_t p50_ns, p99_ns;
};

void ring_cost_clock_start(struct ring_cost_clock *ret);

/* 0 where there is no counter, or within the first millisecond. */
double ring_cost_ns_per_tick(const struct ring_cost_clock *clock);

/* Asks the handler of process PID (a forked child has one of its own) to time its next RUNS runs
   (at most RING_COST_GRANT_MAX). */
void ring_cost_grant(const struct ring_reader *ring, uint32_t pid, uint32_t runs);

/* Reads what the target's handler has measured.  Returns 0, -ENODATA when nothing was measured yet
   (or it was in ticks and NS_PER_TICK is 0), or -EBADMSG for a unit that there is not. */
int ring_cost_read(const struct ring_reader *ring, double ns_per_tick, struct ring_cost *ret);

/* The value, in units, that SHARE (0 to 1) of the runs in BUCKETS did not exceed, evenly spread
   within its bucket; 0 when they are empty.  Pure. */
double ring_cost_quantile(const uint32_t buckets[RING_COST_BUCKETS], double share);

#endif
