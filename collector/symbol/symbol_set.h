/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols of one file, while an index is made of them: chooses one of several names for an
   address. */
#ifndef SYMBOL_SYMBOL_SET_H
#define SYMBOL_SYMBOL_SET_H

#include "common/span.h"
#include "index_format.h"

enum { SYMBOL_TEXTS_BYTES_MAX = 64 << 20 };

enum symbol_rank {                 /* of two names for the same bytes the higher rank wins */
                   SYMBOL_BOUNDS,  /* a function with unknown name: name is empty */
                   SYMBOL_TOLD,    /* a function that only debug information has */
                   SYMBOL_SECTION, /* made for a section, for example [plt] */
                   SYMBOL_STUB,    /* of a linkage table, named after its target */
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
  bool is_bounded;  /* without a size: its limit is the end from bounds */
};

struct symbol_piece {
  uint64_t start;  /* valid up to the next piece's start */
  uint32_t symbol; /* INDEX_NO_SYMBOL: a gap; the last piece always is one */
};

/* A name that was not chosen. */
struct symbol_alias {
  uint64_t start;
  uint32_t hash;
};

struct symbol_texts;

/* Returns the end, at most END, of the function at START, which has no size. RET_NEXT: start of the
   next function, which has no name, or END. IS_MARK: START may be a mark, not a function. */
typedef uint64_t symbol_end(void *context, uint64_t start, uint64_t end, bool is_mark,
                            uint64_t *ret_next);

/* All-zero is a valid empty set. */
struct symbol_set {
  struct symbol_texts *texts;   /* names from symbol_set_join */
  struct candidate *candidates; /* after symbol_set_settle: the remaining ones, by start */
  uint32_t count, cap;
  struct symbol_piece *pieces;
  uint32_t piece_count, piece_cap;
  struct symbol_alias *aliases; /* by start */
  uint32_t alias_count, alias_cap;
  symbol_end *end_of; /* finds ends beyond the symbols' information; or NULL */
  void *end_context;  /* borrowed */
};

void symbol_set_fini(struct symbol_set *set);

/* Returns 0, -EOVERFLOW over INDEX_SYMBOLS_MAX, or -ENOMEM. */
int symbol_set_add(struct symbol_set *set, const struct candidate *candidate);

/* Makes the name FIRST SECOND, valid as long as the set. Returns 0, -EOVERFLOW over
   SYMBOL_TEXTS_BYTES_MAX, or -ENOMEM. */
int symbol_set_join(struct symbol_set *set, struct span first, const char *second,
                    struct span *ret);

/* Applies the rules in symbol_set.c and divides the address space into pieces. Returns 0,
   -EOVERFLOW or -ENOMEM. */
int symbol_set_settle(struct symbol_set *set);

#endif
