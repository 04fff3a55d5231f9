/* SPDX-License-Identifier: Apache-2.0 */
/* Who of a timer target is not sampled and why, and whether the samples of the others can be
   believed.  Looked up in /proc, a few threads at a time. */
#ifndef CENSUS_CENSUS_H
#define CENSUS_CENSUS_H

#include "unsampled.h"

struct ring_view;
struct target;
struct targets;

enum {
  CENSUS_THREADS_A_TICK = 64, /* looked at in one tick of the loop, of all targets together */
  CENSUS_THREADS_MAX = 1024,  /* looked at of one target; more are left out */
  CENSUS_PROCESSES_MAX = 32,  /* of one target: those that hold slots, or have entered its ring */
  CENSUS_INTERVAL_MS = 2000,  /* from one look at a target to the next */
  CENSUS_WHY_BYTES = 200,
};

/* One target's; NULL is an empty one. */
struct census;

/* Looks at what is due, at most CENSUS_THREADS_A_TICK threads.  With every tick of the loop. */
void census_step(struct targets *targets);
void census_free(struct census *census);

/* The drain tells: the slot that VIEW shows has new records or losses (SIGNALS is not 0 then and
   need not be their number); one of the records weighs WEIGHT. */
void census_signals(struct target *target, const struct ring_view *view, uint64_t signals);
/* The same of a slot that is never emptied, where VIEW's head says all that ever came. */
void census_signals_kept(struct target *target, const struct ring_view *view);
/* The same of a ring without slots, where nobody knows which thread had them. */
void census_signals_shared(struct target *target, uint64_t signals);
void census_record(struct target *target, uint32_t slot, uint32_t weight);

struct census_figures {
  uint32_t threads;                      /* that spent CPU time at the last look */
  uint32_t unsampled[UNSAMPLED_REASONS]; /* of those */
  uint32_t marks;                        /* enum batch_mark, at the last look */
  uint64_t blind_since_ns;               /* CLOCK_MONOTONIC: none is sampled any more; or 0 */
  const char *obstacle; /* of UNSAMPLED_EXEC: why the agent is not there (preload_obstacle.h) */
  bool has_failed;      /* another sampler is due (unsampled.h) */
};
void census_figures(const struct target *target, struct census_figures *ret);

/* Marks of all looks since the last call, and of the last look. */
uint32_t census_take_marks(struct target *target);

/* Says in words what FIGURES count as not sampled: "not sampled: 2 threads with the signal
   blocked".  Empty when there is nothing. */
void census_explain(const struct census_figures *figures, char why[CENSUS_WHY_BYTES]);

#endif
