/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of jobs for one thread. */
#ifndef INGEST_LANE_H
#define INGEST_LANE_H

#include <stdint.h>

struct job;
struct lane;

struct lane_parts {
  const char *name;                               /* of the thread; at most 15 characters */
  unsigned group_max;                             /* most jobs passed to `run` at once */
  void (*run)(void *context, struct job *group);  /* processes a list of jobs, in order */
  void (*done)(void *context, struct job *group); /* takes the list over */
  void *run_context, *done_context;
};

/* Starts the thread, which calls `run` and `done`. Returns 0 or -errno. */
int lane_start(const struct lane_parts *parts, struct lane **ret);

/* Queues JOB, which the lane owns until `done`. Does not block. Any thread. */
void lane_submit(struct lane *lane, struct job *job);

/* Lets the thread process queued jobs until DEADLINE_NS (clock_monotonic_ns), passes the others to
   `done` as JOB_FAILED, and waits for the thread to end. */
void lane_stop(struct lane *lane, uint64_t deadline_ns);

#endif
