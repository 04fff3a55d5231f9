/* SPDX-License-Identifier: Apache-2.0 */
/* Moves what has landed into the files of its days, on a thread of its own. */
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
  int last_error; /* why the last round failed, as -errno; 0: it did not */
};

/* Settles what is left over from before, then starts the thread.  Borrows all.  What cannot settle
   now (a full disk) is tried again; only -ENOMEM and failing threads make it fail. */
int settle_start(struct landing *landing, const char *dir, const uint8_t key[SIPHASH_KEY_BYTES],
                 struct settle **ret);
void settle_stop(struct settle *settle);

/* There is something to settle.  Any thread. */
void settle_wake(struct settle *settle);

/* Waits until everything up to landing row ID has settled.  Returns 0; -ETIMEDOUT after some
   seconds or past CUTOFF (NULL: none), and at once until what was waited for in vain has settled;
   or why it cannot settle.  Any thread. */
int settle_wait(struct settle *settle, uint64_t id, const struct cutoff *cutoff);

/* Day files as readers see them: shared while one reads, so that none is renamed or deleted under
   it.  Returns 0, or -ETIMEDOUT past CUTOFF (NULL: none), without the lock.  Any thread. */
int settle_lock_files(struct settle *settle, const struct cutoff *cutoff);
void settle_unlock_files(struct settle *settle);

/* What readers take files from and give them back to, while they hold the lock. */
struct day_pool *settle_pool(struct settle *settle);

/* Closes DAY's file of KIND and deletes it (IF_SUMMED: unless it has windows that no coarser file
   has, which is -EAGAIN, or the landing file cannot be written), or sets it aside because it is
   damaged.  Waits for readers, so the caller must not be one.  Any thread. */
int settle_remove_day(struct settle *settle, enum day_kind kind, uint32_t day, bool if_summed);
int settle_set_aside_day(struct settle *settle, enum day_kind kind, uint32_t day);

/* Deletes from DAY's file of windows the oldest five minutes that end by BEFORE_MS and have been
   summed up.  Returns 1 when there may be more; 0 when there are none; -EAGAIN when somebody reads
   for longer than a question may; or -errno.  Waits for readers as the others.  Any thread. */
int settle_prune_day(struct settle *settle, uint32_t day, uint64_t before_ms);

void settle_figures(struct settle *settle, struct settle_figures *ret);

#endif
