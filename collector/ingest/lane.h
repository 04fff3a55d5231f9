/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of jobs with one thread behind it. */
#ifndef INGEST_LANE_H
#define INGEST_LANE_H

#include <stdint.h>

struct job;
struct lane;

struct lane_parts {
  const char *name;                               /* of the thread; at most 15 characters */
  unsigned group_max;                             /* how many jobs `run` gets at once, at most */
  void (*run)(void *context, struct job *group);  /* works on a list of jobs, in order */
  void (*done)(void *context, struct job *group); /* takes the list over */
  void *run_context, *done_context;
};

/* Starts the thread.  `run` and `done` are called on it.  Returns 0 or -errno. */
int lane_start(const struct lane_parts *parts, struct lane **ret);

/* Queues JOB, which the lane owns until `done`.  Never waits.  Any thread. */
void lane_submit(struct lane *lane, struct job *job);

/* Lets the thread work on what is queued until DEADLINE_NS (clock_monotonic_ns), hands the rest to
   `done` unworked (JOB_FAILED), and waits for the thread to end. */
void lane_stop(struct lane *lane, uint64_t deadline_ns);

#endif
