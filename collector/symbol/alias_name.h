/* SPDX-License-Identifier: Apache-2.0 */
/* Other names of a function, which an index has beside the one that it gives. */
#ifndef SYMBOL_ALIAS_NAME_H
#define SYMBOL_ALIAS_NAME_H

#include "common/span.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct symbol_frame;
struct symbol_index;

/* Of enum index_kind: struct index_alias, by start; an index may have none. */
enum { INDEX_ALIASES = 34 };

struct index_alias {
  uint32_t start; /* of the symbol, less that of the first block */
  uint32_t hash;  /* of the name as the file has it */
};

_Static_assert(sizeof(struct index_alias) == 8, "on disk");

/* What an index keeps of the name of an alias. */
uint32_t alias_name_hash(struct span name);

/* Whether TOLD, what somebody else says of ADDRESS, is a name alone, without a source line, that
   INDEX has for the same function and does not give it: one function would be two by whom one asks.
   Any thread. */
bool alias_name_is(const struct symbol_index *index, uint64_t address,
                   const struct symbol_frame *told);

#endif
