/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of decoded rows: just committed to the landing file, kept so that settling need not read
   and decode them again. Bounded; rows missing here are in the file. */
#ifndef STORE_FRESH_ROWS_H
#define STORE_FRESH_ROWS_H

#include "landing.h"

#include <pthread.h>

struct fresh_row;

enum {
  FRESH_BYTES_MAX = 48 << 20,
  FRESH_BYTES_AHEAD = 16 << 20, /* beyond this the appending thread waits */
  FRESH_WAIT_MS = 250,
};

struct fresh_rows {
  pthread_mutex_t lock;
  struct fresh_row *first, **last;
  struct fresh_row *staged, **staged_last; /* used by the appending thread only */
  size_t bytes;                            /* of all rows */
  pthread_cond_t has_room;
  bool is_stuck;                 /* a wait timed out; reset when rows are removed */
  const struct fresh_row *taken; /* last position of the settling thread */
};

void fresh_rows_init(struct fresh_rows *rows);
void fresh_rows_fini(struct fresh_rows *rows);

/* Waits, at most FRESH_WAIT_MS, until no more than FRESH_BYTES_AHEAD is held. After a timeout it
   does not wait again until rows are removed. Appending thread only. */
void fresh_rows_await_room(struct fresh_rows *rows);

/* Stages ROW, copying its strings and bytes, and takes ownership of *OPENED (or NULL), which
   becomes NULL. Does nothing if there is no room. Appending thread only. */
void fresh_rows_stage(struct fresh_rows *rows, const struct landing_row *row,
                      struct opened_batch **opened);

/* Call the first when the staged rows are durable, the second when they were rolled back. Appending
   thread only. */
void fresh_rows_publish(struct fresh_rows *rows);
void fresh_rows_drop_staged(struct fresh_rows *rows);

/* Returns row ID, valid until it is removed, or NULL if it is not cached. Settling thread only. */
const struct landing_row *fresh_rows_find(struct fresh_rows *rows, uint64_t id);

/* Returns the first cached id from ID on, or INT64_MAX. Settling thread only. */
uint64_t fresh_rows_next(struct fresh_rows *rows, uint64_t id);

/* Removes the rows up to LAST. Settling thread only. */
void fresh_rows_remove(struct fresh_rows *rows, uint64_t last);

#endif
