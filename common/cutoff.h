/* SPDX-License-Identifier: Apache-2.0 */
/* When requested work ends early: after its deadline, or when its client no longer waits for it. */
#ifndef COMMON_CUTOFF_H
#define COMMON_CUTOFF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Steps of a loop between two checks: nodes, functions or rows, some microseconds each at most. */
enum { CUTOFF_STEPS = 4096 };

struct cutoff {
  const atomic_bool *is_abandoned; /* set by the requester, from any thread; NULL: never */
  uint64_t deadline_ns;            /* on clock_monotonic_ns; 0: none */
};

/* Whether the work must end now; a NULL cutoff never ends it. Any thread. */
bool cutoff_is_past(const struct cutoff *cutoff);

/* The same at every CUTOFF_STEPS-th STEP of a loop, including the first (0). */
static inline bool cutoff_is_at(const struct cutoff *cutoff, uint64_t step) {
  return step % CUTOFF_STEPS == 0 && cutoff_is_past(cutoff);
}

#endif
