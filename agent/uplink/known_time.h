/* SPDX-License-Identifier: Apache-2.0 */
/* A lower bound of the current time that does not depend on the board's own clock. */
#ifndef UPLINK_KNOWN_TIME_H
#define UPLINK_KNOWN_TIME_H

#include <limits.h>
#include <stdint.h>

struct known_time {
  char path[PATH_MAX];   /* "": not stored */
  int64_t learnt_s;      /* since 1970; 0: unknown */
  uint64_t learnt_at_ns; /* CLOCK_BOOTTIME at that time, or later */
  int64_t kept_s;        /* the value in the file */
};

/* Reads the value of an earlier run from PATH, or NULL for none; a malformed file counts as
   none. */
void known_time_init(struct known_time *time, const char *path);

/* The earliest possible current time, in seconds since 1970; 0 if unknown. */
int64_t known_time_earliest_s(const struct known_time *time);

/* A collector reports the time NOW_NS; its certificate ends at UNTIL_S.  The file is updated at
   most once a day. */
void known_time_learn(struct known_time *time, uint64_t now_ns, int64_t until_s);

#endif
