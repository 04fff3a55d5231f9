/* SPDX-License-Identifier: Apache-2.0 */
/* A small fork server: one worker for each file, killed if it stalls. */
#ifndef SYMBOL_NURSERY_H
#define SYMBOL_NURSERY_H

#include "worker.h"

struct nursery;

enum nursery_outcome {
  NURSERY_REPLIED,
  NURSERY_DIED,      /* the worker crashed or hit a limit: the file's fault */
  NURSERY_KILLED,    /* the worker or the nursery was killed from outside: try again */
  NURSERY_TIMED_OUT, /* the worker stalled and was killed; cause unknown: try again */
  NURSERY_GIVEN_UP,  /* this file timed out too often: no worker was started */
};

struct nursery_result {
  enum nursery_outcome outcome;
  int signal; /* signal that ended the worker, or 0 */
  struct worker_reply reply;
};

enum { NURSERY_DEADLINES_MAX = 20 };

struct nursery_options {
  unsigned deadline_ms; /* a worker with almost no CPU time for this long is killed */
  unsigned deadlines; /* a worker that makes progress is killed after this many; the sandbox ends it
                         before */
  int niceness;       /* of workers, beyond the caller's own */
};

/* Workers for queries, which take precedence over untrusted files; and background workers. */
#define NURSERY_ASKED ((struct nursery_options){30000, NURSERY_DEADLINES_MAX, 10})
#define NURSERY_BACKGROUND ((struct nursery_options){120000, NURSERY_DEADLINES_MAX, 15})

/* Starts fleetprof-symbols. Returns 0, -ENOENT if the program is not in its place, -EINVAL, or
   another -errno. */
int nursery_open(const struct nursery_options *options, struct nursery **ret);
void nursery_close(struct nursery *nursery);

/* Ends the current job: nursery_run returns -ECANCELED, now and from now on. Any thread. */
void nursery_cancel(struct nursery *nursery);

/* Runs JOB in a new worker. Its descriptors are borrowed; it has at most WORKER_SUPPLEMENTS_MAX
   supplements. One job runs at a time; the wait for a turn is bounded. Returns 0 with RET set;
   -EBUSY if too many threads wait; -ETIMEDOUT if the turn did not come; or -errno if no worker can
   be started. RET->reply is checked for form, not for truth. Any thread. */
int nursery_run(struct nursery *nursery, const struct worker_job *job, struct nursery_result *ret);

#endif
