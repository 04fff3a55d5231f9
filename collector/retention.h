/* SPDX-License-Identifier: Apache-2.0 */
/* Rolls up completed periods and deletes data by age and size, periodically, on its own thread. */
#ifndef COLLECTOR_RETENTION_H
#define COLLECTOR_RETENTION_H

#include <stdint.h>

struct retention;
struct store;
struct trusted_time;

/* The longest age of each kind of data; 0: no limit. */
struct retention_limits {
  uint64_t windows_ns; /* as sent by boards, until they are rolled up */
  uint64_t minutes_ns; /* sums of five minutes */
  uint64_t hours_ns;   /* sums of hours */
  uint64_t days_ns;    /* sums of days, and all data */
  uint64_t max_bytes;
};

/* Starts the thread. DIR, which has the reserve (reserve.h), STORE and TIME, the clock for ages,
   are borrowed. On a full disk the first round is at once, and rounds are more frequent. Returns 0
   or -errno. */
int retention_start(const char *dir, struct store *store, struct trusted_time *time,
                    const struct retention_limits *limits, struct retention **ret);

/* Sets the limits from the next round on. Any thread. */
void retention_set(struct retention *retention, const struct retention_limits *limits);

/* Stops after the current round. */
void retention_stop(struct retention *retention);

#endif
