/* SPDX-License-Identifier: Apache-2.0 */
/* Compares names with the aliases of a function. libc's vfprintf is also _IO_vfprintf, and
   addr2line returns either of them; an index returns one name by its rule (symbol_set.c). The index
   stores a 32-bit hash for each other name, ordered by function: enough to recognize the name. */
#include "alias_name.h"

#include "symbol_index.h"

#include "common/table.h"

#include <string.h>

uint32_t alias_name_hash(struct span name) {
  return (uint32_t)table_hash(name.data, name.len, 0);
}

/* Returns the first alias of a function that starts at OFFSET or later. */
static uint32_t find_first(const struct symbol_index *index, uint64_t offset) {
  uint32_t low = 0, high = index->alias_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (index->aliases[middle].start < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool alias_name_is(const struct symbol_index *index, uint64_t address,
                   const struct symbol_frame *told) {
  struct symbol_match symbol;
  if (told->file != NULL || index->alias_count == 0) return false;
  if (symbol_index_find(index, address, &symbol) != 0) return false;
  uint64_t offset = symbol.start - index->blocks[0].address;
  uint32_t hash = alias_name_hash(span_of(told->name, strcspn(told->name, "@"))); /* no version */
  for (uint32_t i = find_first(index, offset); i < index->alias_count; i++) {
    if (index->aliases[i].start != offset) return false;
    if (index->aliases[i].hash == hash) return true;
  }
  return false;
}
