/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of the metrics about profiles. Samples are read by the query thread alone, which may be
   busy for two minutes, but a scrape must be answered meanwhile:

     loop: a scrape arrives, a minute is over --job--> query thread: made --> kept
     monitor thread: waits for that a moment, prints the cached text */
#ifndef HTTP_KEPT_METRICS_H
#define HTTP_KEPT_METRICS_H

#include "common/buf.h"
#include "jobs.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct service;

enum {
  KEPT_METRICS_EVERY_S = 60,   /* shortest interval between refreshes */
  KEPT_METRICS_WAIT_MS = 2000, /* longest wait of a scrape for new metrics */
  KEPT_METRICS_AGE_S = 300,    /* older metrics are stale and not shown */
};

struct kept_metrics {
  struct job job; /* first: casts between both */
  struct service *service;
  uint64_t next_ns;      /* earliest next refresh, by clock_monotonic_ns; loop only */
  bool is_with_query;    /* the job is queued or running; loop only */
  pthread_mutex_t mutex; /* guards the rest */
  pthread_cond_t made;
  bool is_being_made;
  uint64_t asked_ns, made_ns;
  struct buf text;
};

void kept_metrics_init(struct kept_metrics *kept, struct service *service);
void kept_metrics_fini(struct kept_metrics *kept);

/* Queues a refresh if it is due, on SERVICE's query thread. Loop only. */
void kept_metrics_ask(struct kept_metrics *kept);

/* Refreshes the cache. If that fails or takes too long, the previous text stays, with its age.
   Query thread only. */
void kept_metrics_make(struct kept_metrics *kept);

/* Appends the cached text to RET, or nothing if it is older than KEPT_METRICS_AGE_S. Blocks: any
   thread but the loop and the query thread. */
void kept_metrics_print(struct kept_metrics *kept, struct buf *ret);

#endif
