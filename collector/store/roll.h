/* SPDX-License-Identifier: Apache-2.0 */
/* Rollup of the windows of a day into five minutes, hours and the day. */
#ifndef STORE_ROLL_H
#define STORE_ROLL_H

#include "siphash.h"
#include "tier.h"

#include <stdbool.h>

enum { ROLL_GRACE_MS = 60 * 1000 }; /* later windows are added in a further transaction */

struct roll_job {
  const char *dir;
  const uint8_t *key; /* SIPHASH_KEY_BYTES */
  uint32_t day;
  uint64_t now_ms;
  uint64_t store;                 /* of the marks in the files written; 0: no marks */
  uint64_t generation[DAY_KINDS]; /* out: of the files written; 0: not written */
  enum day_kind failed;           /* out: the file that the error is about */
};

/* Sums up all completed buckets that are not up to date. The files of the day must not be deleted
   meanwhile. One call at a time. Returns 0; -EUCLEAN if a file is damaged; or -errno. Work
   committed before an error stays. */
int roll_day(struct roll_job *job);

/* Deletes from DAY's file of windows the oldest five minutes that end by BEFORE_MS and have been
   summed up. The day's files must not be read or written meanwhile. Returns 1 if more may follow,
   0, or -errno. */
int roll_prune(const char *dir, uint32_t day, uint64_t before_ms);

/* Returns whether rollups contain all data of DAY's file of windows, so that it may be deleted: 1,
   0, or -errno. */
int roll_is_complete(const char *dir, uint32_t day);

#endif
