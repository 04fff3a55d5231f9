/* SPDX-License-Identifier: Apache-2.0 */
/* Names that the operator's translators give, within one query. */
#ifndef QUERY_TRANSLATED_H
#define QUERY_TRANSLATED_H

#include "store/store_read.h"

#include <stdbool.h>

struct symbol_frame;
struct symbolizer;

/* All-zero is a valid empty one. */
struct translated {
  uint32_t *modules; /* of the forest: who translates each, as numbers of the pool */
  uint32_t count, room;
  bool is_sorted;
  uint64_t *addresses; /* of all nodes of the forest, by module */
  uint32_t *ends;      /* of each module: where its addresses end */
  uint32_t address_room, end_room;
  uint64_t waited_ns; /* by this query */
};

void translated_fini(struct translated *translated);

/* Another board or forest follows. */
void translated_turn(struct translated *translated);

/* Finds the functions at FRAME, a node of FOREST, where a rule of SYMBOLIZER's translators is for
   its module, as symbol_index_chain does; texts stay until the collector ends.  The first frame of
   a module has all of its addresses in FOREST asked for, and waits, TRANSLATED_WAIT_MS a query at
   most; what is answered later is there for the next query.  Returns their number, or -ENOENT. */
int translated_chain(struct translated *translated, struct symbolizer *symbolizer,
                     const char *board, const struct store_forest *forest,
                     const struct store_node *frame, struct symbol_frame *frames);

/* Notes that what was said of MODULE of the forest is not believed: its files know better. */
void translated_refuse(const struct translated *translated, struct symbolizer *symbolizer,
                       uint32_t module);

enum { TRANSLATED_WAIT_MS = 2000 };

#endif
