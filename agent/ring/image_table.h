/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides of a ring's image table (image_format.h) that are not the handler. */
#ifndef RING_IMAGE_TABLE_H
#define RING_IMAGE_TABLE_H

#include "image_format.h"

#include <stdbool.h>
#include <stddef.h>

static inline struct image_table *image_table_of(void *ring) {
  return (struct image_table *)(void *)((uint8_t *)ring + IMAGE_OFFSET);
}

/* Around a change of regions or modules, by the only writer.  Keep it short: meanwhile handlers
   count into `contended`.  A writer that was killed within is mended by the next begin and end. */
void image_table_begin(struct image_table *table);
void image_table_end(struct image_table *table);

/* Copies TABLE, which a stranger may be writing, and checks the copy: counts and indices within
   their limits, regions in order and disjoint, texts ended.  IS_DEAD: nobody writes it any more, so
   a change that was never finished is taken as it stands.  Returns 0, -EAGAIN when it was being
   changed all the time, or -EBADMSG.  On failure RET is undefined. */
int image_table_read(const struct image_table *table, bool is_dead, struct image_table *ret);

/* The index of the mapped region of TABLE (a checked copy) that holds PC, or -1. */
int image_table_find(const struct image_table *table, uint64_t pc);

/* The most that any region of TABLE, which may change meanwhile, has its bins doubled. */
unsigned image_table_widening(const struct image_table *table);

#endif
