/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that store equal entries once: strings, or records of one size. */
#ifndef SYMBOL_INTERNER_H
#define SYMBOL_INTERNER_H

#include "common/buf.h"
#include "common/table.h"

/* All-zero is a valid empty one; it holds either strings or records. */
struct interner {
  struct buf bytes;
  struct table table;
  uint32_t block_bytes; /* no string crosses a multiple of it; 0: no blocks */
};

void interner_fini(struct interner *interner);

/* Finds or adds TEXT. RET_OFFSET is its offset in the bytes; a NUL follows it. Returns 0,
   -EOVERFLOW if the bytes would exceed LIMIT, or -ENOMEM. */
int interner_string(struct interner *interner, struct span text, uint64_t limit,
                    uint32_t *ret_offset);

/* Finds or adds RECORD; RET_NUMBER counts records from 0. All records have the same length. Returns
   as interner_string. */
int interner_record(struct interner *interner, struct span record, uint64_t limit,
                    uint32_t *ret_number);

#endif
