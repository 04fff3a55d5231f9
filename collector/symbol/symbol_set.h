/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols of one file, while an index is made of them: which of several names an address
   gets. */
#ifndef SYMBOL_SYMBOL_SET_H
#define SYMBOL_SYMBOL_SET_H

#include "common/span.h"
#include "index_format.h"

enum { SYMBOL_TEXTS_BYTES_MAX = 64 << 20 };

enum symbol_rank {                 /* of two names for the same bytes the higher one wins */
                   SYMBOL_BOUNDS,  /* a function whose name nobody knows: name is empty */
                   SYMBOL_TOLD,    /* a function that only debug information tells of */
                   SYMBOL_SECTION, /* made up for a section, such as [plt] */
                   SYMBOL_STUB,    /* of a linkage table, by the function that it leads to */
                   SYMBOL_LABEL,   /* no type: an assembler function, or a label inside one */
                   SYMBOL_LOCAL,
                   SYMBOL_WEAK,
                   SYMBOL_GLOBAL,
};

struct candidate {
  uint64_t start, size;
  uint64_t limit;   /* end of its section */
  struct span name; /* borrowed */
  enum symbol_rank rank;
  bool is_indirect; /* an IFUNC: its code is that of its resolver */
  bool is_bounded;  /* without a size: its limit is the end that debug information gives */
};

struct symbol_piece {
  uint64_t start;  /* up to the next piece's */
  uint32_t symbol; /* INDEX_NO_SYMBOL: a gap; the last piece always is one */
};

/* A name that lost. */
struct symbol_alias {
  uint64_t start;
  uint32_t hash;
};

struct symbol_texts;

/* Where the function at START, without a size, ends, END at the latest; RET_NEXT: where the next
   one begins, which has no name, or END.  IS_MARK: START may be no function. */
typedef uint64_t symbol_end(void *context, uint64_t start, uint64_t end, bool is_mark,
                            uint64_t *ret_next);

/* All-zero is a valid empty set. */
struct symbol_set {
  struct symbol_texts *texts;   /* names that were made here */
  struct candidate *candidates; /* after symbol_set_settle: what stays, by start */
  uint32_t count, cap;
  struct symbol_piece *pieces;
  uint32_t piece_count, piece_cap;
  struct symbol_alias *aliases; /* by start */
  uint32_t alias_count, alias_cap;
  symbol_end *end_of; /* what is known of that beside the symbols; or NULL */
  void *end_context;  /* borrowed */
};

void symbol_set_fini(struct symbol_set *set);

/* Returns 0, -EOVERFLOW over INDEX_SYMBOLS_MAX, or -ENOMEM. */
int symbol_set_add(struct symbol_set *set, const struct candidate *candidate);

/* Makes the name FIRST SECOND, which lives as long as the set does.  Returns 0, -EOVERFLOW over
   SYMBOL_TEXTS_BYTES_MAX, or -ENOMEM. */
int symbol_set_join(struct symbol_set *set, struct span first, const char *second,
                    struct span *ret);

/* Applies the rules that symbol_set.c states and cuts the address space into pieces.  Returns 0,
   -EOVERFLOW or -ENOMEM. */
int symbol_set_settle(struct symbol_set *set);

#endif
