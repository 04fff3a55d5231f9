/* SPDX-License-Identifier: Apache-2.0 */
/* What a board knows of the time without believing its own clock: the earliest that it can be. */
#ifndef UPLINK_KNOWN_TIME_H
#define UPLINK_KNOWN_TIME_H

#include <limits.h>
#include <stdint.h>

struct known_time {
  char path[PATH_MAX];   /* "": it is not kept */
  int64_t learnt_s;      /* since 1970; 0: nothing is known */
  uint64_t learnt_at_ns; /* CLOCK_BOOTTIME when that was so, or later */
  int64_t kept_s;        /* what the file says */
};

/* Reads what an earlier run left in PATH, or NULL for none; what does not read counts as nothing.
 */
void known_time_init(struct known_time *time, const char *path);

/* The earliest that it can be now, in seconds since 1970; 0 when nothing is known. */
int64_t known_time_earliest_s(const struct known_time *time);

/* A collector whose certificate ends at UNTIL_S says that it is NOW_NS.  Kept, once a day, in the
   file. */
void known_time_learn(struct known_time *time, uint64_t now_ns, int64_t until_s);

#endif
