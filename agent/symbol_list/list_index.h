/* SPDX-License-Identifier: Apache-2.0 */
/* An index of a list of symbols: fixed records, in the order of the addresses, that point at lines
   of the text.  So a list need not be sorted, and no name is ever cut.

     0   8  "fplist1\n"
     8   8  bytes of the text
     16  8  a checksum of places spread over the text
     24     records: 8 address, 8 offset of the line; one for each address

   All numbers in the byte order of the machine that made it; another's does not parse. */
#ifndef SYMBOL_LIST_LIST_INDEX_H
#define SYMBOL_LIST_LIST_INDEX_H

#include "common/symbol_line.h"

struct buf;

enum { LIST_INDEX_SYMBOLS_MAX = 1 << 25 };

struct list_index {
  struct span text;    /* borrowed */
  struct span records; /* borrowed; any alignment */
};

/* Makes the index of TEXT in RET.  Returns 0; -EOVERFLOW over LIST_INDEX_SYMBOLS_MAX; -ENOMEM. */
int list_index_build(struct span text, struct buf *ret);

/* Opens BYTES as the index of TEXT.  Returns 0; -EBADMSG: it is none; -ESTALE: it is another
   text's. Pure. */
int list_index_parse(struct span bytes, struct span text, struct list_index *ret);

/* Finds what symbol_list_find would in the sorted text.  A record that does not point at a line of
   its address, or is out of order, gives anything or -ENOENT, safely.  Pure. */
int list_index_find(const struct list_index *index, uint64_t address, struct symbol_line *ret);

#endif
