/* SPDX-License-Identifier: Apache-2.0 */
/* Access to a ring's image table (image_format.h), for writers and for readers other than the
   handler. */
#ifndef RING_IMAGE_TABLE_H
#define RING_IMAGE_TABLE_H

#include "image_format.h"

#include <stdbool.h>
#include <stddef.h>

static inline struct image_table *image_table_of(void *ring) {
  return (struct image_table *)(void *)((uint8_t *)ring + IMAGE_OFFSET);
}

/* Enclose a change of regions or modules, by the only writer. Keep it short: meanwhile handlers
   count into `contended`. If a writer was killed within, the next begin and end repair the
   table. */
void image_table_begin(struct image_table *table);
void image_table_end(struct image_table *table);

/* Copies TABLE, which an untrusted process may be writing, and checks the copy: counts and indices
   within their limits, regions sorted and disjoint, texts terminated. IS_DEAD: there is no writer,
   so an unfinished change is accepted. Returns 0, -EAGAIN if it changed during every attempt, or
   -EBADMSG. On failure RET is undefined. */
int image_table_read(const struct image_table *table, bool is_dead, struct image_table *ret);

/* The index of the mapped region of TABLE (a checked copy) that contains PC, or -1. */
int image_table_find(const struct image_table *table, uint64_t pc);

/* The largest widening of any region of TABLE, which may change concurrently. */
unsigned image_table_widening(const struct image_table *table);

#endif
