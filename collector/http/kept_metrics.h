/* SPDX-License-Identifier: Apache-2.0 */
/* What /metrics says of profiles, as it was made last.  Samples are read by the query thread alone,
   which may be busy for two minutes, and a scrape has to be answered meanwhile:

     loop: a scrape comes, a minute is over --job--> query thread: made --> kept
     monitor thread: waits for that a moment, prints what is kept */
#ifndef HTTP_KEPT_METRICS_H
#define HTTP_KEPT_METRICS_H

#include "common/buf.h"
#include "jobs.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct service;

enum {
  KEPT_METRICS_EVERY_S = 60,   /* how often they are made anew */
  KEPT_METRICS_WAIT_MS = 2000, /* how long a scrape waits for them at most */
  KEPT_METRICS_AGE_S = 300,    /* what is older is of another time, and not shown */
};

struct kept_metrics {
  struct job job; /* first: the job is what is kept */
  struct service *service;
  uint64_t next_ns;      /* when they are to be made anew, by clock_monotonic_ns; loop only */
  bool is_with_query;    /* the query thread has the job; loop only */
  pthread_mutex_t mutex; /* guards the rest */
  pthread_cond_t made;
  bool is_being_made;
  uint64_t asked_ns, made_ns;
  struct buf text;
};

void kept_metrics_init(struct kept_metrics *kept, struct service *service);
void kept_metrics_fini(struct kept_metrics *kept);

/* Has them made where they are due, by SERVICE's queries.  Loop only. */
void kept_metrics_ask(struct kept_metrics *kept);

/* Makes them.  Where that fails, or takes too long, what there was stays, as old as it is.  Query
   thread only. */
void kept_metrics_make(struct kept_metrics *kept);

/* Appends what is kept to RET: nothing where nothing was made within KEPT_METRICS_AGE_S.  Any
   thread but the two above, since it waits. */
void kept_metrics_print(struct kept_metrics *kept, struct buf *ret);

#endif
