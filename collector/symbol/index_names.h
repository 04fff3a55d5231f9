/* SPDX-License-Identifier: Apache-2.0 */
/* The strings of an index under construction: demangled names with their raw names, all clean, each
   text once. */
#ifndef SYMBOL_INDEX_NAMES_H
#define SYMBOL_INDEX_NAMES_H

#include "interner.h"

/* All-zero is a valid empty one. */
struct index_names {
  struct interner strings;
  struct table by_place; /* of raw names in the file; many functions share one */
  struct buf readable, clean;
};

void index_names_fini(struct index_names *names);

/* Adds the symbol name RAW. RAW must stay in memory until the end, and texts at the same address
   must be equal. Returns 0 with the name's reference in RET (index_texts.h); -EOVERFLOW over
   INDEX_STRINGS_BYTES_MAX; -ENOMEM. */
int index_names_add(struct index_names *names, struct span raw, uint32_t *ret);

/* Adds a text that is not a symbol: a path. Returns as index_names_add, but RET is its offset. */
int index_names_add_text(struct index_names *names, struct span raw, uint32_t *ret);

#endif
