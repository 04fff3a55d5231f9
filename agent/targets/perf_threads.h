/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each thread of a perf target its own events, which can get a new period. Events that
   threads inherited from the program's first one cannot. */
#ifndef TARGETS_PERF_THREADS_H
#define TARGETS_PERF_THREADS_H

#include "processes.h"
#include "targets.h"

enum {
  PERF_THREADS_MAX = 512,              /* of a target */
  PERF_THREADS_EVENTS_MAX = 1024,      /* of a target: threads times CPUs */
  PERF_THREADS_EVENTS_OF_ALL = 4096,   /* of all targets, and a quarter of the descriptors */
  PERF_THREADS_ASTRAY_MIN = 20,        /* samples at a rate other than the requested one */
  PERF_THREADS_INHERITED_MIN = 100,    /* samples at a period that cannot be varied */
  PERF_THREADS_WAIT_SECONDS_MAX = 600, /* doubles from 1 with each change */
  PERF_THREADS_UNSEEN_TASKS = 20,      /* tasks that ended, */
  PERF_THREADS_UNSEEN_PART = 20,       /* and 1/this of the time, which had no sample */
  PERF_THREADS_WIDE_MAX = 1,           /* targets with events on whole CPUs */
  PERF_THREADS_WIDE_SECONDS = 10,      /* between two checks of these events; also the first delay
                                          until they return, doubled each time up to the maximum
                                          wait */
  PERF_THREADS_SEEN_PART = 40,     /* 1/this of the time: if less is missed, they are not needed */
  PERF_THREADS_FIRST_PART = 10,    /* 1/this of the time: more in tasks' first periods is marked */
  PERF_THREADS_FOREIGN_TIMES = 32, /* samples of other programs for each sample of the target */
  PERF_THREADS_FOREIGN_MIN = 500,  /* fewer between two checks cost too little */
};

/* True if TARGET has enough samples of threads that no change reaches, and the delay has passed. */
bool perf_threads_is_due(const struct target *target, uint64_t now_ns);

/* A task of TARGET that had spent CPU_NS has ended. */
void perf_threads_note_end(struct target *target, uint64_t cpu_ns);

/* True if many of TARGET's samples are the first ones of tasks that inherited their events. */
bool perf_threads_are_short(const struct target *target);

/* True if inherited events miss so much of TARGET's time that events on whole CPUs are needed, and
   nothing forbids them yet. */
bool perf_threads_is_wide_due(const struct targets *targets, const struct target *target,
                              uint64_t now_ns);
/* Replaces TARGET's events by events on whole CPUs. The supervisor must already have held.is_apart.
   Returns 0, or -errno with everything as before. If the kernel refuses them, no further attempt is
   made. */
int perf_threads_open_wide(struct targets *targets, struct target *target);

/* Checks the yield of TARGET's events on whole CPUs, once every PERF_THREADS_WIDE_SECONDS. Returns
   true if they cost too much for it, or its tasks are long again. */
bool perf_threads_is_narrow_due(struct target *target, uint64_t now_ns);
/* Closes TARGET's events on whole CPUs, after a drain. The events of its tree replace them: started
   if IS_RUN, else stopped, and new tasks of the tree inherit them. Returns 0, or -ENOMEM with
   everything as before. */
int perf_threads_narrow(struct targets *targets, struct target *target, bool is_run);

/* Opens events on all threads of TARGET, which replace the current ones; after a drain. The next
   attempt is delayed, whatever the result. The supervisor must already have held.is_apart. Returns
   0. Otherwise everything is as before: -EAGAIN if threads started meanwhile, -EPERM if one may not
   be inspected, -EOVERFLOW if there are too many, or -errno. */
int perf_threads_open(struct targets *targets, struct processes *processes, struct target *target);

#endif
