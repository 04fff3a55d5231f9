/* SPDX-License-Identifier: Apache-2.0 */
/* What alerts need of profiles themselves: which share of the last minutes has no names, and the
   shares of functions that were named for that (--watch).  Query thread only. */
#ifndef HTTP_PROFILE_METRICS_H
#define HTTP_PROFILE_METRICS_H

#include "common/buf.h"

#include <stdint.h>

struct arena;
struct http_parts;

enum {
  PROFILE_METRICS_RANGE_S = 300, /* what they are of */
  PROFILE_METRICS_EVERY_S = 60,  /* how often they are made anew */
  PROFILE_METRICS_DEADLINE_S = 2 /* what making them may hold others up: else there are none */
};

struct profile_metrics { /* all zero: none yet */
  struct buf text;
  uint64_t next_ns; /* clock_monotonic_ns */
};

void profile_metrics_fini(struct profile_metrics *metrics);

/* Appends them to RET, those of a minute ago where they are no older; ARENA is for the time of the
   call.  A store that does not answer in time has none until the next minute. */
void profile_metrics_print(struct profile_metrics *metrics, const struct http_parts *parts,
                           struct arena *arena, struct buf *ret);

#endif
