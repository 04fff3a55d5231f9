/* SPDX-License-Identifier: Apache-2.0 */
/* An index of a symbol list: fixed-size records, sorted by address, that refer to lines of the
   text.  So a list need not be sorted, and no name is cut.

      0   8  "fplist1\n"
      8   8  bytes of the text
      16  8  a checksum of places spread over the text
      24     records: 8 address, 8 offset of the line; one for each address

   All numbers are in the byte order of the machine that created it; elsewhere it does not parse. */
#ifndef SYMBOL_LIST_LIST_INDEX_H
#define SYMBOL_LIST_LIST_INDEX_H

#include "common/symbol_line.h"

struct buf;

enum { LIST_INDEX_SYMBOLS_MAX = 1 << 25 };

struct list_index {
  struct span text;    /* borrowed */
  struct span records; /* borrowed; any alignment */
};

/* Creates the index of TEXT in RET.  Returns 0; -EOVERFLOW over LIST_INDEX_SYMBOLS_MAX; -ENOMEM. */
int list_index_build(struct span text, struct buf *ret);

/* Opens BYTES as the index of TEXT.  Returns 0; -EBADMSG if it is no index; -ESTALE if it belongs
   to another text.  Pure. */
int list_index_parse(struct span bytes, struct span text, struct list_index *ret);

/* Finds the same as symbol_list_find in the sorted text.  If a record is out of order, or does not
   refer to a line of its address, the result is arbitrary or -ENOENT, but safe.  Pure. */
int list_index_find(const struct list_index *index, uint64_t address, struct symbol_line *ret);

#endif
