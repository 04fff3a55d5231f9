/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the landing file that have just been committed, decoded as they came, so that settling
   need not read and decode them again.  Bounded; what is not here is in the file. */
#ifndef STORE_FRESH_ROWS_H
#define STORE_FRESH_ROWS_H

#include "landing.h"

#include <pthread.h>

struct fresh_row;

enum {
  FRESH_BYTES_MAX = 48 << 20,
  FRESH_BYTES_AHEAD = 16 << 20, /* whoever appends may be so far ahead of who settles */
  FRESH_WAIT_MS = 250,
};

struct fresh_rows {
  pthread_mutex_t lock;
  struct fresh_row *first, **last;
  struct fresh_row *staged, **staged_last; /* the appending thread's own */
  size_t bytes;                            /* of all of them */
  pthread_cond_t has_room;
  bool is_stuck;                 /* nobody made room for FRESH_WAIT_MS, or since */
  const struct fresh_row *taken; /* by the settling thread, last */
};

void fresh_rows_init(struct fresh_rows *rows);
void fresh_rows_fini(struct fresh_rows *rows);

/* Waits, for FRESH_WAIT_MS at most, until not more than FRESH_BYTES_AHEAD is held; not again before
   something is removed.  Appending thread only. */
void fresh_rows_await_room(struct fresh_rows *rows);

/* Stages ROW, whose strings and bytes are copied, with what OPENED holds (or NULL), which is taken
   over: *OPENED is NULL then.  Where there is no room it does nothing.  Appending thread only. */
void fresh_rows_stage(struct fresh_rows *rows, const struct landing_row *row,
                      struct opened_batch **opened);

/* What was staged is durable, or was rolled back.  Appending thread only. */
void fresh_rows_publish(struct fresh_rows *rows);
void fresh_rows_drop_staged(struct fresh_rows *rows);

/* Returns row ID, valid until it is removed, or NULL when it is not here.  Settling thread only. */
const struct landing_row *fresh_rows_find(struct fresh_rows *rows, uint64_t id);

/* Returns the first id from ID on that is here, or INT64_MAX.  Settling thread only. */
uint64_t fresh_rows_next(struct fresh_rows *rows, uint64_t id);

/* Forgets the rows up to LAST.  Settling thread only. */
void fresh_rows_remove(struct fresh_rows *rows, uint64_t last);

#endif
