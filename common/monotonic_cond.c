/* SPDX-License-Identifier: Apache-2.0 */
/* The C library's default is the wall clock, which jumps. */
#include "monotonic_cond.h"

#include "clock.h"

#include <time.h>

void monotonic_cond_init(pthread_cond_t *cond) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(cond, &attributes);
  pthread_condattr_destroy(&attributes);
}

struct timespec monotonic_from_now(uint64_t ms) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  uint64_t ns = (uint64_t)end.tv_nsec + ms % 1000 * NS_PER_MS;
  end.tv_sec += (time_t)(ms / 1000 + ns / NS_PER_SECOND);
  end.tv_nsec = (long)(ns % NS_PER_SECOND);
  return end;
}
