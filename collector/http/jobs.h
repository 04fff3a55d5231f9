/* SPDX-License-Identifier: Apache-2.0 */
/* One worker thread with a bounded queue in and a way back to the loop. */
#ifndef HTTP_JOBS_H
#define HTTP_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct jobs;

struct job { /* the first member of the caller's own struct */
  struct job *next;
  void (*run)(struct job *job); /* on the worker thread */
  /* On the loop: the job is the caller's again.  WAS_RUN is false when it was given up. */
  void (*on_done)(struct job *job, bool was_run);
};

/* Starts the thread, called NAME, for at most LIMIT jobs that wait.  Returns 0 or -errno. */
int jobs_start(struct event_base *loop, const char *name, size_t limit, struct jobs **ret);
/* The same for work that nobody's screen waits for: it gives way to all else on the machine. */
int jobs_start_low(struct event_base *loop, const char *name, size_t limit, struct jobs **ret);

/* Queues JOB.  Returns 0, or -ENOSPC when LIMIT wait already (JOB stays the caller's).
   Loop only. */
int jobs_add(struct jobs *jobs, struct job *job);

/* Returns whether a further job would be refused.  Loop only. */
bool jobs_is_full(struct jobs *jobs);

/* Gives up what waits, waits at most TIMEOUT_MS for what runs, and frees JOBS.  Returns 0, or
   -ETIMEDOUT when a job still runs: then neither JOBS nor anything that the job uses may be freed,
   and all that is left to do is to exit.  Loop only. */
int jobs_stop(struct jobs *jobs, unsigned timeout_ms);

#endif
