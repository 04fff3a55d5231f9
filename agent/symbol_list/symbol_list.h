/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted list of symbols, searched where it lies: no index, no memory but the text's own pages.
 */
#ifndef SYMBOL_LIST_SYMBOL_LIST_H
#define SYMBOL_LIST_SYMBOL_LIST_H

#include "common/symbol_line.h"

enum { SYMBOL_LIST_REACH_MAX = 1 << 20 }; /* bytes that a symbol without size covers at most */

/* Finds the symbol of ADDRESS in TEXT, whose lines are in the order of their addresses: the best
   name (symbol_line_compare) of the nearest address at or below, where that reaches: as far as its
   size says, without one to SYMBOL_LIST_REACH_MAX.  RET borrows TEXT.  Returns 0 or -ENOENT.  In a
   text that is not sorted it finds anything or nothing, safely.  Pure. */
int symbol_list_find(struct span text, uint64_t address, struct symbol_line *ret);

/* The same of one line that lies at or below ADDRESS, the nearest that does. */
bool symbol_list_reaches(const struct symbol_line *line, uint64_t address);

struct symbol_list_shape {
  uint64_t symbol_count;  /* places with a name */
  uint64_t disorder_line; /* the first whose address is below one before it; 0: all sorted */
  bool has_addresses;     /* not all are 0, as kallsyms shows them to who may not know */
};

/* Reads TEXT through once. */
struct symbol_list_shape symbol_list_look(struct span text);

/* Finds the lowest address that TEXT, sorted or not, gives NAME.  Returns 0 or -ENOENT. */
int symbol_list_address_of(struct span text, struct span name, uint64_t *ret);

#endif
