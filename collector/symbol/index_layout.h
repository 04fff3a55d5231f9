/* SPDX-License-Identifier: Apache-2.0 */
/* Converts symbols and debug information to the rows and nodes of an index (index_format.h). */
#ifndef SYMBOL_INDEX_LAYOUT_H
#define SYMBOL_INDEX_LAYOUT_H

#include "common/buf.h"

struct index_names;
struct source_map;
struct symbol_set;

struct index_tables {
  struct buf rows, nodes, blocks;
};

void index_tables_fini(struct index_tables *tables);

/* Makes the tables of SET and SOURCE, both settled, and adds the names of symbols to NAMES. Code
   outside the symbols of SET gets no rows. Returns 0, -EOVERFLOW over a limit of the format, or
   -ENOMEM. */
int index_layout_make(const struct symbol_set *set, const struct source_map *source,
                      struct index_names *names, struct index_tables *ret);

#endif
