/* SPDX-License-Identifier: Apache-2.0 */
/* One worker thread with a bounded fair queue. Finished jobs return to the loop. */
#ifndef HTTP_JOBS_H
#define HTTP_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct jobs;

enum job_end {
  JOB_RUN,
  JOB_DISPLACED, /* displaced by a requester with fewer jobs in the queue */
  JOB_STOPPED,   /* the worker stops */
};

struct job { /* the first member of the caller's own struct */
  struct job *next;
  uint64_t requester;           /* equal for all jobs of one requester; 0: the program's own */
  uint64_t turn;                /* private */
  void (*run)(struct job *job); /* on the worker thread */
  /* On the loop. The job is the caller's again. */
  void (*on_done)(struct job *job, enum job_end end);
};

/* Starts the thread, called NAME, with at most LIMIT waiting jobs. Returns 0 or -errno. */
int jobs_start(struct event_base *loop, const char *name, size_t limit, struct jobs **ret);
/* The same for background work: the thread runs with low CPU priority. */
int jobs_start_low(struct event_base *loop, const char *name, size_t limit, struct jobs **ret);

/* Queues JOB. Requesters take turns; jobs of one requester are run in order. If LIMIT jobs wait
   already, the newest job of the requester with the most jobs ends as JOB_DISPLACED (its on_done is
   called). That requester must still have at least as many jobs as JOB's requester then has.
   Returns 0, or -ENOSPC if the queue is full (JOB stays the caller's). Loop only. */
int jobs_add(struct jobs *jobs, struct job *job);

/* Takes JOB out of the queue. JOB is the caller's again, and its on_done is not called. Returns
   false if it is not queued: it runs, or has run. Loop only. */
bool jobs_remove(struct jobs *jobs, struct job *job);

/* Returns the number of waiting jobs. Any thread. */
size_t jobs_waiting(struct jobs *jobs);

/* Returns whether another job would be refused. Loop only. */
bool jobs_is_full(struct jobs *jobs);

/* Ends waiting jobs as JOB_STOPPED, waits at most TIMEOUT_MS for the running job, and frees JOBS.
   Returns 0, or -ETIMEDOUT if a job still runs. Then neither JOBS nor an object that the job uses
   may be freed: the caller can only exit. Loop only. */
int jobs_stop(struct jobs *jobs, unsigned timeout_ms);

#endif
