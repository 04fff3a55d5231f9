/* SPDX-License-Identifier: Apache-2.0 */
/* Condition variables whose waits no change of the wall clock makes longer or shorter. */
#ifndef COMMON_MONOTONIC_COND_H
#define COMMON_MONOTONIC_COND_H

#include <pthread.h>
#include <stdint.h>

void monotonic_cond_init(pthread_cond_t *cond);

/* MS from now, for pthread_cond_timedwait of such a one. */
struct timespec monotonic_from_now(uint64_t ms);

#endif
