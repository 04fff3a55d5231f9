/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up what is over, and deletes what is too old or too much, from time to time, on a thread of
   its own. */
#ifndef COLLECTOR_RETENTION_H
#define COLLECTOR_RETENTION_H

#include <stdint.h>

struct retention;
struct store;
struct trusted_time;

/* How long what is kept, at most; 0: no limit, for each. */
struct retention_limits {
  uint64_t windows_ns; /* as boards sent them; these are summed up */
  uint64_t minutes_ns; /* sums of five minutes */
  uint64_t hours_ns;   /* sums of hours */
  uint64_t days_ns;    /* sums of days, and everything */
  uint64_t max_bytes;
};

/* Starts.  DIR, where the reserve is (reserve.h), STORE and TIME, which says how old data is, are
   borrowed.  On a full disk a round comes at once, and others soon.  Returns 0 or -errno. */
int retention_start(const char *dir, struct store *store, struct trusted_time *time,
                    const struct retention_limits *limits, struct retention **ret);

/* Other limits from the next round on.  Any thread. */
void retention_set(struct retention *retention, const struct retention_limits *limits);

/* Stops after the round under way. */
void retention_stop(struct retention *retention);

#endif
