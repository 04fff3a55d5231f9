/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the landing file that have just been committed, decoded as they came, so that settling
   need not read and decode them again.  Bounded; what is not here is in the file. */
#ifndef STORE_FRESH_ROWS_H
#define STORE_FRESH_ROWS_H

#include "landing.h"

#include <pthread.h>

struct fresh_row;

enum { FRESH_BYTES_MAX = 16 << 20 };

struct fresh_rows {
  pthread_mutex_t lock;
  struct fresh_row *first, **last;
  struct fresh_row *staged, **staged_last; /* the appending thread's own */
  size_t bytes;                            /* of all of them */
  const struct fresh_row *taken;           /* by the settling thread, last */
};

void fresh_rows_init(struct fresh_rows *rows);
void fresh_rows_fini(struct fresh_rows *rows);

/* Stages ROW, whose strings and bytes are copied, with what OPENED holds (or NULL), which is taken
   over: *OPENED is NULL then.  Where there is no room it does nothing.  Appending thread only. */
void fresh_rows_stage(struct fresh_rows *rows, const struct landing_row *row,
                      struct opened_batch **opened);

/* What was staged is durable, or was rolled back.  Appending thread only. */
void fresh_rows_publish(struct fresh_rows *rows);
void fresh_rows_drop_staged(struct fresh_rows *rows);

/* Returns row ID, valid until it is removed, or NULL when it is not here.  Settling thread only. */
const struct landing_row *fresh_rows_find(struct fresh_rows *rows, uint64_t id);

/* Forgets the rows up to LAST.  Settling thread only. */
void fresh_rows_remove(struct fresh_rows *rows, uint64_t last);

#endif
