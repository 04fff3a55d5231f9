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
  PERF_THREADS_UNSEEN_TASKS = 20,      /* tasks that ended, */
  PERF_THREADS_UNSEEN_PART = 20,       /* and the part of the time that they had without a sample */
  PERF_THREADS_WIDE_MAX = 1,           /* targets with events on whole CPUs */
  PERF_THREADS_WIDE_SECONDS = 10,      /* between two looks at what such events bring; and without
                                          them at first, doubled with each time up to the wait */
  PERF_THREADS_SEEN_PART = 40,         /* of the time: less without them is missed by too little */
  PERF_THREADS_FIRST_PART = 10,        /* of the time: more in tasks' first periods is marked */
  PERF_THREADS_FOREIGN_TIMES = 32,     /* samples of other programs for one of the target's own */
  PERF_THREADS_FOREIGN_MIN = 500,      /* fewer between two looks cost too little */
};

/* TARGET has enough samples of threads that no change reaches, and it is time. */
bool perf_threads_is_due(const struct target *target, uint64_t now_ns);

/* A task of TARGET that had spent CPU_NS has ended. */
void perf_threads_note_end(struct target *target, uint64_t cpu_ns);

/* Whether much of TARGET's samples are the first ones of tasks that inherited their events. */
bool perf_threads_are_short(const struct target *target);

/* So much of TARGET's time is that of tasks which inherited events miss that events on whole CPUs
   are wanted, and nothing forbids them yet. */
bool perf_threads_is_wide_due(const struct targets *targets, const struct target *target,
                              uint64_t now_ns);
/* Opens these and puts them into the place of those at work.  held.is_apart must be known to the
   keeper already.  Returns 0; or -errno: then all is as before, and where the kernel refuses them
   it is not tried again. */
int perf_threads_open_wide(struct targets *targets, struct target *target);

/* Looks at what TARGET's events on whole CPUs bring, once each PERF_THREADS_WIDE_SECONDS.  Returns
   true when they cost too much for that, or its tasks are long again. */
bool perf_threads_is_narrow_due(struct target *target, uint64_t now_ns);
/* Closes TARGET's events on whole CPUs, after a drain.  Those of its tree are in their place again:
   started when IS_RUN, else stopped, and what the tree starts meanwhile inherits them.  Returns 0,
   or -ENOMEM: then all is as before. */
int perf_threads_narrow(struct targets *targets, struct target *target, bool is_run);

/* Opens events on all threads of TARGET and puts them into the place of those at work; after a
   drain.  The next time is then not before a while, whatever came of it.  held.is_apart must be
   known to the keeper already.  Returns 0, or why all is as before: -EAGAIN when threads came into
   being meanwhile, -EPERM when one may not be looked into, -EOVERFLOW when there are too many, or
   -errno. */
int perf_threads_open(struct targets *targets, struct processes *processes, struct target *target);

#endif
