/* SPDX-License-Identifier: Apache-2.0 */
/* Names from the operator's translators, within one query. */
#ifndef QUERY_TRANSLATED_H
#define QUERY_TRANSLATED_H

#include "store/store_read.h"

#include <stdbool.h>

struct symbol_frame;
struct symbolizer;

/* All-zero is empty. */
struct translated {
  uint32_t *modules; /* the pool's number of each forest module's translator */
  uint32_t count, room;
  bool is_sorted;
  uint64_t *addresses; /* of all nodes of the forest, by module */
  uint32_t *ends;      /* the end of each module's addresses */
  uint32_t address_room, end_room;
  uint64_t waited_ns; /* by this query */
};

void translated_fini(struct translated *translated);

/* Prepares for another board or forest. */
void translated_turn(struct translated *translated);

/* Finds the functions at FRAME, a node of FOREST, if a rule of SYMBOLIZER's translators applies to
   its module. Works as symbol_index_chain; texts live as long as the collector. The first frame of
   a module requests all of its addresses in FOREST and waits, at most TRANSLATED_WAIT_MS a query.
   Later answers serve the next query. Returns the number of functions, or -ENOENT. */
int translated_chain(struct translated *translated, struct symbolizer *symbolizer,
                     const char *board, const struct store_forest *forest,
                     const struct store_node *frame, struct symbol_frame *frames);

/* Records that the translator's answers for MODULE of the forest are rejected, because its files
   contradict them. */
void translated_refuse(const struct translated *translated, struct symbolizer *symbolizer,
                       uint32_t module);

enum { TRANSLATED_WAIT_MS = 2000 };

#endif
