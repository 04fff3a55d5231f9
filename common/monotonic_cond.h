/* SPDX-License-Identifier: Apache-2.0 */
/* Condition variables with timeouts that do not depend on changes of the wall clock. */
#ifndef COMMON_MONOTONIC_COND_H
#define COMMON_MONOTONIC_COND_H

#include <pthread.h>
#include <stdint.h>

void monotonic_cond_init(pthread_cond_t *cond);

/* Time between two checks of a cutoff, whose passing signals no condition. */
enum { MONOTONIC_LOOK_MS = 100 };

/* MS from now, for pthread_cond_timedwait with a condition of this kind. */
struct timespec monotonic_from_now(uint64_t ms);

#endif
