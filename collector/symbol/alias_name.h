/* SPDX-License-Identifier: Apache-2.0 */
/* Aliases of a function: its names other than the one that the index returns. */
#ifndef SYMBOL_ALIAS_NAME_H
#define SYMBOL_ALIAS_NAME_H

#include "common/span.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct symbol_frame;
struct symbol_index;

/* A value of enum index_kind. Its rows are struct index_alias, by start; an index may have none. */
enum { INDEX_ALIASES = 34 };

struct index_alias {
  uint32_t start; /* of the symbol, relative to the first block */
  uint32_t hash;  /* of the name as it stands in the file */
};

_Static_assert(sizeof(struct index_alias) == 8, "on disk");

/* Returns the hash that an index stores for an alias. */
uint32_t alias_name_hash(struct span name);

/* Whether TOLD, another symbolizer's answer for ADDRESS, is an alias in INDEX of the same function.
   Only names without a source line match. Without this check one function would appear under two
   names, depending on the symbolizer. Any thread. */
bool alias_name_is(const struct symbol_index *index, uint64_t address,
                   const struct symbol_frame *told);

#endif
