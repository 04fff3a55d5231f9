/* SPDX-License-Identifier: Apache-2.0 */
/* The run's books in memory that outlives the worker: a page mapped from a file in the runtime
   directory (tmpfs on a board, so no flash is worn), shared by keeper and worker.

   kill -9 may fall between any two instructions, and yet every record must be in exactly one of
   shipped, dropped or still-in-a-ring.  So a drain is written down before it is done:

     1. books[!current] = the books as they will be after this drain
     2. pending = {which ring, which slot, its tail after the drain}        (release)
     3. the ring's tail is moved                                            (release)
     4. current = !current, pending cleared                                 (release)

   A worker that starts finds a pending drain done (the ring's tail equals pending.tail: finish
   step 4) or not done (forget it).  What is then produced but neither shipped nor dropped was in
   the dead worker's open window: LOSS_WORKER_KILLED. */
#ifndef DAEMON_COUNTER_PAGE_H
#define DAEMON_COUNTER_PAGE_H

#include "proto/loss.h"

#include <stdatomic.h>
#include <stdint.h>

enum { COUNTER_PAGE_MAGIC = 0x47504346, COUNTER_PAGE_VERSION = 1, COUNTER_PAGE_BYTES = 4096 };

struct counter_page {
  uint32_t magic, version;
  uint8_t boot_id[16];
  struct counters books[2];
  _Atomic uint32_t current;
  _Atomic uint32_t pending; /* 1: the three fields below describe a drain under way */
  uint32_t pending_ring;
  uint32_t pending_slot;
  uint64_t pending_tail;
  _Atomic uint64_t next_seq; /* of the run's next batch */
};

_Static_assert(sizeof(struct counter_page) <= COUNTER_PAGE_BYTES, "the books outgrew their page");

/* Opens PATH (made when absent), maps it, and starts the books of RUN.  What an earlier run left
   there is copied to RET_OLD first (RET_OLD->magic is 0 when there was nothing).  Returns 0 or
   -errno. */
int counter_page_open(const char *path, uint64_t run, struct counter_page **ret,
                      struct counter_page *ret_old);

/* The books as they stand.  Borrowed; changed only through the functions below. */
const struct counters *counter_page_books(const struct counter_page *page);

/* Steps 1 and 2, before the tail of SLOT in RING moves to TAIL; AFTER is the books as they will
   then be. */
void counter_page_prepare(struct counter_page *page, uint32_t ring, uint32_t slot, uint64_t tail,
                          const struct counters *after);
/* Step 4. */
void counter_page_commit(struct counter_page *page);

/* True when a drain was under way; the caller compares the ring's tail and then calls commit or
   counter_page_forget. */
int counter_page_has_pending(const struct counter_page *page, uint32_t *ret_ring,
                             uint32_t *ret_slot, uint64_t *ret_tail);
void counter_page_forget(struct counter_page *page);

/* Books a change that moves no ring: a batch spooled (SHIPPED records), records dropped. */
void counter_page_ship(struct counter_page *page, uint64_t shipped);
void counter_page_drop(struct counter_page *page, enum loss_reason reason, uint64_t records);

#endif
