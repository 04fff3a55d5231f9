/* SPDX-License-Identifier: Apache-2.0 */
/* The run's counters in memory that outlives the worker: a page mapped from a file in the runtime
   directory (tmpfs on a board, so no flash is worn), shared by supervisor and worker.

   kill -9 may occur between any two instructions.  Still every record must be in exactly one of
   shipped, dropped or still-in-a-ring.  So a drain is recorded before it is done:

      1. books[!current] = the books as they will be after this drain
      2. pending = {which ring, which slot, its tail after the drain}        (release)
      3. the slot's counted_full and counted_reentry, then its tail, move    (release)
      4. current = !current, pending cleared                                 (release)

   A new worker finds a pending drain done (the ring's tail equals pending.tail: finish step 4) or
   not done (forget it).  Records that are then produced, but neither shipped nor dropped, were in
   the killed worker's open window: LOSS_WORKER_KILLED. */
#ifndef KEEPER_COUNTER_PAGE_H
#define KEEPER_COUNTER_PAGE_H

#include "proto/loss.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  COUNTER_PAGE_MAGIC = 0x47504346,
  COUNTER_PAGE_VERSION = 1,
  COUNTER_PAGE_BYTES = 4096,
  COUNTER_PAGE_OLD_MAX = 16
};

struct counter_page {
  uint32_t magic, version;
  uint8_t boot_id[16];
  struct counters books[2];
  _Atomic uint32_t current;
  _Atomic uint32_t pending; /* not 0: the fields below describe a drain in progress */
  uint32_t pending_ring;
  uint32_t pending_slot;
  uint64_t pending_tail;
  uint64_t pending_full, pending_reentry; /* counted_full and counted_reentry after the drain */
  _Atomic uint64_t next_seq;              /* of the run's next batch */
  _Atomic uint64_t unsaved; /* shipped, but only in the worker's memory: the disk rejected them */
};

_Static_assert(sizeof(struct counter_page) <= COUNTER_PAGE_BYTES, "the books outgrew their page");

/* Opens PATH (creates it if missing), maps it, and starts the counters of RUN.  Counters that an
   earlier run could not close are set aside first, next to PATH.  Returns 0 or -errno. */
int counter_page_open(const char *path, uint64_t run, struct counter_page **ret);

/* Maps the page set aside as INDEX, below COUNTER_PAGE_OLD_MAX; a drain may still be pending in it.
   Returns 0, -ENOENT if there is none, -EBADMSG if it has nothing to close, or -errno. */
int counter_page_open_old(const char *path, unsigned index, struct counter_page **ret);
void counter_page_remove_old(const char *path, unsigned index);

void counter_page_close(struct counter_page *page);

/* The current counters.  Borrowed; changed only through the functions below. */
const struct counters *counter_page_books(const struct counter_page *page);

/* One drain of one slot.  Perf rings have no counts of their own: 0. */
struct counter_drain {
  uint32_t ring, slot;
  uint64_t tail;
  uint64_t counted_full, counted_reentry;
};

/* Steps 1 and 2, before DRAIN is done; AFTER is the counters after it. */
void counter_page_prepare(struct counter_page *page, const struct counter_drain *drain,
                          const struct counters *after);
/* Step 4. */
void counter_page_commit(struct counter_page *page);

/* True if a drain was in progress.  The caller compares the ring's tail: if it has moved, it stores
   the two counts again and calls counter_page_commit, else counter_page_forget. */
bool counter_page_has_pending(const struct counter_page *page, struct counter_drain *ret);
void counter_page_forget(struct counter_page *page);

/* Count changes that move no ring: a rest without room in the window; a spooled batch (SHIPPED
   records; the next batch gets the next seq); records dropped from the open window; records that
   left the spool unsent. */
void counter_page_produce(struct counter_page *page, uint64_t records);
void counter_page_ship(struct counter_page *page, uint64_t shipped);
void counter_page_drop(struct counter_page *page, enum loss_reason reason, uint64_t records);
void counter_page_unship(struct counter_page *page, enum loss_reason reason, uint64_t records);
void counter_page_end_run(struct counter_page *page); /* sets final */

/* Records that are neither shipped nor dropped: the open window.  Pure. */
uint64_t counters_open(const struct counters *books);

#endif
