/* SPDX-License-Identifier: Apache-2.0 */
/* Moves landed rows into the files of their days, in a thread of its own. */
#ifndef STORE_SETTLE_H
#define STORE_SETTLE_H

#include "siphash.h"
#include "tier.h"

#include <stdbool.h>

struct cutoff;
struct day_pool;
struct landing;
struct settle;

struct settle_figures {
  uint64_t settled_id;
  uint64_t settled_batches, unreadable_batches, failed_rounds;
  uint64_t collisions, cut_frames, files_set_aside;
  int last_error; /* error of the last round as -errno, or 0 */
};

/* Settles rows left from before, then starts the thread. Borrows all arguments. Rows that cannot
   settle now (a full disk) are tried again; only -ENOMEM and a failure to start the thread are
   errors. */
int settle_start(struct landing *landing, const char *dir, const uint8_t key[SIPHASH_KEY_BYTES],
                 struct settle **ret);
void settle_stop(struct settle *settle);

/* Wakes the settling thread. Any thread. */
void settle_wake(struct settle *settle);

/* Waits until all rows up to landing row ID have settled. Returns 0; -ETIMEDOUT after some
   seconds or past CUTOFF (NULL: none); -ETIMEDOUT at once while the row of an earlier vain wait
   has not settled; or the error of settling. Any thread. */
int settle_wait(struct settle *settle, uint64_t id, const struct cutoff *cutoff);

/* Shared lock of readers on days' files: none is renamed or deleted while it is held. Returns 0,
   or -ETIMEDOUT past CUTOFF (NULL: none), without the lock. Any thread. */
int settle_lock_files(struct settle *settle, const struct cutoff *cutoff);
void settle_unlock_files(struct settle *settle);

/* The pool from which readers take files and to which they return them, with the lock held. */
struct day_pool *settle_pool(struct settle *settle);

/* Closes DAY's file of KIND. settle_remove_day deletes it; with IF_SUMMED it returns -EAGAIN if
   the file has windows that no coarser file has, or if the landing file cannot be written.
   settle_set_aside_day quarantines it as damaged. Both wait for readers, so the caller must hold
   no file. Any thread. */
int settle_remove_day(struct settle *settle, enum day_kind kind, uint32_t day, bool if_summed);
int settle_set_aside_day(struct settle *settle, enum day_kind kind, uint32_t day);

/* Deletes from DAY's file of windows the oldest five minutes that end by BEFORE_MS and are
   summed up. Returns 1 if there may be more; 0 if there are none; -EAGAIN if a reader holds the
   files for longer than a query may take; or -errno. Waits for readers as above. Any thread. */
int settle_prune_day(struct settle *settle, uint32_t day, uint64_t before_ms);

void settle_figures(struct settle *settle, struct settle_figures *ret);

#endif
