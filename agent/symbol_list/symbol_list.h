/* SPDX-License-Identifier: Apache-2.0 */
/* Searches a sorted symbol list in place: it needs no index, and no memory but the text's own
   pages. */
#ifndef SYMBOL_LIST_SYMBOL_LIST_H
#define SYMBOL_LIST_SYMBOL_LIST_H

#include "common/symbol_line.h"

enum { SYMBOL_LIST_REACH_MAX = 1 << 20 }; /* bytes that a symbol without size covers at most */

/* Finds the symbol of ADDRESS in TEXT, which must be sorted by address.  It is the best name
   (symbol_line_compare) of the nearest address at or below, if that symbol covers ADDRESS: by its
   size, or by SYMBOL_LIST_REACH_MAX if it has none.  RET borrows TEXT.  Returns 0 or -ENOENT.  In
   an unsorted text the result is arbitrary, but safe.  Pure. */
int symbol_list_find(struct span text, uint64_t address, struct symbol_line *ret);

/* Whether LINE, the nearest at or below ADDRESS, covers it. */
bool symbol_list_reaches(const struct symbol_line *line, uint64_t address);

struct symbol_list_shape {
  uint64_t symbol_count;  /* addresses with a name */
  uint64_t disorder_line; /* the first line with a lower address than an earlier line; 0: sorted */
  bool has_addresses;     /* not all are 0, as in kallsyms without privilege */
};

/* Reads TEXT once. */
struct symbol_list_shape symbol_list_look(struct span text);

/* Finds the lowest address of NAME in TEXT, sorted or not.  Returns 0 or -ENOENT. */
int symbol_list_address_of(struct span text, struct span name, uint64_t *ret);

#endif
