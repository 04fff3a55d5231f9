/* SPDX-License-Identifier: Apache-2.0 */
/* Events on each thread of a perf target by itself: they can be told a new period, and what threads
   inherited from the program's first one cannot. */
#ifndef TARGETS_PERF_THREADS_H
#define TARGETS_PERF_THREADS_H

#include "processes.h"
#include "targets.h"

enum {
  PERF_THREADS_MAX = 512,              /* of one target */
  PERF_THREADS_EVENTS_MAX = 1024,      /* the same, times CPUs */
  PERF_THREADS_EVENTS_OF_ALL = 4096,   /* of all targets, and a quarter of our descriptors */
  PERF_THREADS_ASTRAY_MIN = 20,        /* samples at another rate than the asked one */
  PERF_THREADS_INHERITED_MIN = 100,    /* samples at a period that cannot be varied */
  PERF_THREADS_WAIT_SECONDS_MAX = 600, /* doubled from 1 with each time */
};

/* TARGET has enough samples of threads that no change reaches, and it is time. */
bool perf_threads_is_due(const struct target *target, uint64_t now_ns);

/* Opens events on all threads of TARGET and puts them into the place of those at work; after a
   drain.  The next time is then not before a while, whatever came of it.  held.is_apart must be
   known to the keeper already.  Returns 0, or why all is as before: -EAGAIN when threads came into
   being meanwhile, -EPERM when one may not be looked into, -EOVERFLOW when there are too many, or
   -errno. */
int perf_threads_open(struct targets *targets, struct processes *processes, struct target *target);

#endif
