/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics about profiles for alerts: the share of unnamed samples in the last minutes, and the
   shares of watched functions (--watch). Query thread only. */
#ifndef HTTP_PROFILE_METRICS_H
#define HTTP_PROFILE_METRICS_H

struct arena;
struct buf;
struct http_parts;

enum {
  PROFILE_METRICS_RANGE_S = 300, /* range of the samples */
  PROFILE_METRICS_DEADLINE_S = 2 /* longest delay of other queries by the refresh */
};

/* Appends the metrics to RET. ARENA is used during the call only. Returns 0, or -errno if the store
   fails or is too slow; RET may then have a part of them. */
int profile_metrics_print(const struct http_parts *parts, struct arena *arena, struct buf *ret);

#endif
