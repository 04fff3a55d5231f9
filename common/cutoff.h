/* SPDX-License-Identifier: Apache-2.0 */
/* When work that somebody asked for ends early: past its deadline, or when nobody waits for it any
   more. */
#ifndef COMMON_CUTOFF_H
#define COMMON_CUTOFF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Steps of a loop between two looks: nodes, functions or rows, some microseconds each at most. */
enum { CUTOFF_STEPS = 4096 };

struct cutoff {
  const atomic_bool *is_abandoned; /* by whoever asked, set by any thread; NULL: never */
  uint64_t deadline_ns;            /* on clock_monotonic_ns; 0: none */
};

/* Whether the work ends now; NULL: never.  Any thread. */
bool cutoff_is_past(const struct cutoff *cutoff);

/* The same at each CUTOFF_STEPS-th STEP of a loop, the first (0) included. */
static inline bool cutoff_is_at(const struct cutoff *cutoff, uint64_t step) {
  return step % CUTOFF_STEPS == 0 && cutoff_is_past(cutoff);
}

#endif
