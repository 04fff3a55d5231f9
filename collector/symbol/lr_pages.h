/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a table of lr_format.h. */
#ifndef SYMBOL_LR_PAGES_H
#define SYMBOL_LR_PAGES_H

#include "lr_format.h"

#include "common/buf.h"

/* The writer; all-zero until lr_pages_begin. */
struct lr_pages {
  struct lr_head head;
  uint32_t *firsts;
  struct buf entries;
  uint32_t page; /* the current page */
  uint64_t at;   /* of the last entry */
  uint8_t place; /* of the last entry */
};

/* Starts a table for code at [LOW, HIGH). Returns 0, -EINVAL if the range is invalid or too large,
   or -ENOMEM. */
int lr_pages_begin(struct lr_pages *pages, uint64_t low, uint64_t high, uint32_t machine);
void lr_pages_fini(struct lr_pages *pages);

/* Addresses must not decrease; those outside the range are left out. */
void lr_pages_add_place(struct lr_pages *pages, uint64_t address, enum lr_place place);
void lr_pages_add_call(struct lr_pages *pages, uint64_t address, uint32_t target);

/* Appends the table to RET, or nothing if it has no entries, or too few for its pages. Returns 0 or
   -ENOMEM. */
int lr_pages_finish(struct lr_pages *pages, struct buf *ret);

#endif
