/* SPDX-License-Identifier: Apache-2.0 */
/* One worker thread with a bounded queue in, of which everybody who asks has a share, and a way
   back to the loop. */
#ifndef HTTP_JOBS_H
#define HTTP_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct jobs;

enum job_end {
  JOB_RUN,
  JOB_DISPLACED, /* given up for one of a requester who had less of the queue */
  JOB_STOPPED,   /* given up because all of it ends */
};

struct job { /* the first member of the caller's own struct */
  struct job *next;
  uint64_t requester;           /* whose it is: equal for all of one; 0: the program's own */
  uint64_t turn;                /* jobs' own */
  void (*run)(struct job *job); /* on the worker thread */
  /* On the loop: the job is the caller's again. */
  void (*on_done)(struct job *job, enum job_end end);
};

/* Starts the thread, called NAME, for at most LIMIT jobs that wait.  Returns 0 or -errno. */
int jobs_start(struct event_base *loop, const char *name, size_t limit, struct jobs **ret);
/* The same for work that nobody's screen waits for: it gives way to all else on the machine. */
int jobs_start_low(struct event_base *loop, const char *name, size_t limit, struct jobs **ret);

/* Queues JOB: requesters take turns, jobs of one are run in order.  When LIMIT wait already, the
   newest job of the requester who has most of them ends as JOB_DISPLACED (its on_done is called),
   if that leaves him no less than JOB's requester then has.  Returns 0, or -ENOSPC when there is no
   place (JOB stays the caller's).  Loop only. */
int jobs_add(struct jobs *jobs, struct job *job);

/* Takes JOB out of the queue; it is the caller's again, and its on_done is not called.  Returns
   false when it is not there: it runs, or has run.  Loop only. */
bool jobs_remove(struct jobs *jobs, struct job *job);

/* Returns how many wait.  Any thread. */
size_t jobs_waiting(struct jobs *jobs);

/* Returns whether a further job would be refused.  Loop only. */
bool jobs_is_full(struct jobs *jobs);

/* Gives up what waits, waits at most TIMEOUT_MS for what runs, and frees JOBS.  Returns 0, or
   -ETIMEDOUT when a job still runs: then neither JOBS nor anything that the job uses may be freed,
   and all that is left to do is to exit.  Loop only. */
int jobs_stop(struct jobs *jobs, unsigned timeout_ms);

#endif
