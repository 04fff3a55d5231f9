/* SPDX-License-Identifier: Apache-2.0 */
/* What alerts need of profiles themselves: which share of the last minutes has no names, and the
   shares of functions that were named for that (--watch).  Query thread only. */
#ifndef HTTP_PROFILE_METRICS_H
#define HTTP_PROFILE_METRICS_H

struct arena;
struct buf;
struct http_parts;

enum {
  PROFILE_METRICS_RANGE_S = 300, /* what they are of */
  PROFILE_METRICS_DEADLINE_S = 2 /* what making them may hold others up */
};

/* Appends them to RET; ARENA is for the time of the call.  Returns 0, or -errno where the store
   does not answer, or not in time: RET may have a part of them then. */
int profile_metrics_print(const struct http_parts *parts, struct arena *arena, struct buf *ret);

#endif
