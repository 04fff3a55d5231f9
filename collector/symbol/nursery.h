/* SPDX-License-Identifier: Apache-2.0 */
/* A small program that forks a worker for each file and ends it when it gets nowhere. */
#ifndef SYMBOL_NURSERY_H
#define SYMBOL_NURSERY_H

#include "worker.h"

struct nursery;

enum nursery_outcome {
  NURSERY_REPLIED,
  NURSERY_DIED,      /* the worker crashed or ran into a limit: the file's fault */
  NURSERY_KILLED,    /* somebody else ended the worker or the nursery: try again */
  NURSERY_TIMED_OUT, /* the worker got nowhere and was ended, nobody knows whose fault: try again */
  NURSERY_GIVEN_UP,  /* that happened to this file too often: no worker was made */
};

struct nursery_result {
  enum nursery_outcome outcome;
  int signal; /* that ended the worker, or 0 */
  struct worker_reply reply;
};

enum { NURSERY_DEADLINES_MAX = 20 };

struct nursery_options {
  unsigned deadline_ms; /* a worker that had next to no CPU time for as long is ended */
  unsigned deadlines;   /* one that goes on is, too, after as many; the sandbox ends it before */
  int niceness;         /* of workers, beyond the caller's own */
};

/* Workers for answers, which go before strangers' files; and those that nobody waits for. */
#define NURSERY_ASKED ((struct nursery_options){30000, NURSERY_DEADLINES_MAX, 10})
#define NURSERY_BACKGROUND ((struct nursery_options){120000, NURSERY_DEADLINES_MAX, 15})

/* Starts fleetprof-symbols.  Returns 0, -ENOENT when the program is not where it belongs, -EINVAL,
   or another -errno. */
int nursery_open(const struct nursery_options *options, struct nursery **ret);
void nursery_close(struct nursery *nursery);

/* Ends what runs: nursery_run returns -ECANCELED, now and from now on.  Any thread. */
void nursery_cancel(struct nursery *nursery);

/* Has a new worker do JOB, whose descriptors are borrowed; it has WORKER_SUPPLEMENTS_MAX
   supplements at most.  One at a time: waits for its turn, bounded.  Returns 0 with RET set; -EBUSY
   when too many wait, -ETIMEDOUT when its turn did not come, or -errno when no worker can be had.
   RET->reply is checked for form, not for truth.  Any thread. */
int nursery_run(struct nursery *nursery, const struct worker_job *job, struct nursery_result *ret);

#endif
