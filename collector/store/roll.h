/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the windows of a day into five minutes, hours and the day. */
#ifndef STORE_ROLL_H
#define STORE_ROLL_H

#include "siphash.h"
#include "tier.h"

#include <stdbool.h>

enum { ROLL_GRACE_MS = 60 * 1000 }; /* what comes later than this is added on its own */

struct roll_job {
  const char *dir;
  const uint8_t *key; /* SIPHASH_KEY_BYTES */
  uint32_t day;
  uint64_t now_ms;
  uint64_t store;                 /* marks of the files written, sqlite/marks.h; 0: none */
  uint64_t generation[DAY_KINDS]; /* out: of the files written; 0: it was not */
  enum day_kind failed;           /* out: the file that the error is about */
};

/* Sums up what has not been of all times that are over.  Nobody may delete a file of the day
   meanwhile; one at a time.  Returns 0, -EUCLEAN when a file is damaged, or -errno; what was done
   before an error stays. */
int roll_day(struct roll_job *job);

/* Deletes from DAY's file of windows the oldest five minutes that end by BEFORE_MS and have been
   summed up.  Nobody may write or read the day's files meanwhile.  Returns 1 when there may be more
   of them, 0, or -errno. */
int roll_prune(const char *dir, uint32_t day, uint64_t before_ms);

/* Whether all that DAY's file of windows has is in coarser ones, so that it can go.  Returns 1, 0,
   or -errno. */
int roll_is_complete(const char *dir, uint32_t day);

#endif
