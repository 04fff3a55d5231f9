/* SPDX-License-Identifier: Apache-2.0 */
/* Determines which threads of a timer target are not sampled and why, and whether the other samples
   are reliable. Reads /proc, a few threads at a time. */
#ifndef CENSUS_CENSUS_H
#define CENSUS_CENSUS_H

#include "unsampled.h"

struct ring_view;
struct target;
struct targets;

enum {
  CENSUS_THREADS_A_TICK = 64, /* checked in one tick of the loop, for all targets together */
  CENSUS_THREADS_MAX = 1024,  /* threads checked of a target; more are left out */
  CENSUS_PROCESSES_MAX = 32,  /* of a target: those that own slots, or have entered its ring */
  CENSUS_INTERVAL_MS = 2000,  /* between two looks at a target */
  CENSUS_WHY_BYTES = 200,
};

/* The census of a target; NULL is an empty one. */
struct census;

/* Checks the threads that are due, at most CENSUS_THREADS_A_TICK. With every tick of the loop. */
void census_step(struct targets *targets);
void census_free(struct census *census);

/* From the drain: the slot in VIEW has new records or losses (then SIGNALS is not 0, but need not
   be their number). census_record: one of the records weighs WEIGHT. */
void census_signals(struct target *target, const struct ring_view *view, uint64_t signals);
/* The same for a slot that is never emptied: VIEW's head is the total. */
void census_signals_kept(struct target *target, const struct ring_view *view);
/* The same for a ring without slots, in which the threads are unknown. */
void census_signals_shared(struct target *target, uint64_t signals);
void census_record(struct target *target, uint32_t slot, uint32_t weight);

struct census_figures {
  uint32_t threads;                      /* with CPU time at the last look */
  uint32_t unsampled[UNSAMPLED_REASONS]; /* of those */
  uint32_t marks;                        /* enum batch_mark, as of the last look */
  uint64_t blind_since_ns;               /* CLOCK_MONOTONIC: none is sampled since then; or 0 */
  const char *obstacle; /* with UNSAMPLED_EXEC: why the agent is not loaded (preload_obstacle.h) */
  bool has_failed;      /* a fallback to another sampler is due (unsampled.h) */
};
void census_figures(const struct target *target, struct census_figures *ret);

/* Marks of all looks since the last call, and of the last look. */
uint32_t census_take_marks(struct target *target);

/* Writes the unsampled threads in FIGURES as text: "not sampled: 2 threads with the signal
   blocked". Empty if there are none. */
void census_explain(const struct census_figures *figures, char why[CENSUS_WHY_BYTES]);

#endif
