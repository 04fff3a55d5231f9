/* SPDX-License-Identifier: Apache-2.0 */
/* Maps frames to functions within one query: each function once, and each address looked up once
   for all boards that have the same files.

   Lookups are fastest in the order of addresses. So announce the frames first (naming_prepare),
   then request them (naming_chain). Frames that were not announced are looked up on request. */
#ifndef QUERY_NAMING_H
#define QUERY_NAMING_H

#include "common/table.h"
#include "store/store_read.h"
#include "translated.h"
#include "view/tree_builder.h"

#include <stdbool.h>

struct name_cursor;
struct naming_module;
struct naming_order;
struct query_range;
struct symbolizer;

struct naming {
  struct symbolizer *symbolizer; /* NULL: no names */
  const struct cutoff *cutoff;   /* of name lookups */
  struct function_table *functions;
  struct place_table *places; /* NULL: places are not distinguished */
  struct view_place spot;     /* of the current frame: build, address and start */
  char *board;                /* the board and forest of these names: */
  uint64_t forest_id;
  struct table by_address;
  struct named_address *addresses;
  uint32_t *of_node; /* node of the forest -> number of its address + 1; 0: none yet */
  uint32_t node_room;
  struct naming_order *order; /* NULL: none yet */
  struct name_cursor *cursor; /* in the module of the last lookup; NULL: none yet */
  struct tree_step *steps;    /* of all addresses, one after the other */
  uint32_t address_count, address_room, step_count, step_room;
  struct naming_module *modules; /* of the same forest, and the functions met by their texts: */
  uint32_t module_count, module_room;
  struct table by_text;
  struct known_text *texts;
  uint32_t text_count, text_room;
  struct translated translated; /* results of translators, which take precedence */
};

/* The functions at an address, outermost first: all but the first were inlined. */
struct naming_chain {
  const struct tree_step *steps; /* until the next call */
  uint32_t count;                /* 1 at least */
};

/* Borrows all. */
void naming_init(struct naming *naming, struct symbolizer *symbolizer,
                 struct function_table *functions, struct place_table *places);
void naming_fini(struct naming *naming);

/* The following calls are about nodes of FOREST as seen by BOARD's samples. Returns 1 if nodes
   have the same functions as before the call, 0 if they may have others, or -ENOMEM. */
int naming_turn(struct naming *naming, const char *board, const struct store_forest *forest);

/* Names the leaves of ROWS, COUNT rows of FOREST, and WITH_CALLERS all their callers. Returns 0,
   -EOVERFLOW over VIEW_FUNCTIONS_MAX or VIEW_PLACES_MAX, -ETIMEDOUT, or -ENOMEM. */
int naming_prepare(struct naming *naming, const struct store_forest *forest,
                   const struct store_row *rows, size_t count, bool with_callers);

/* Finds the functions at FRAME, a node of FOREST.  Returns 0, -EOVERFLOW over VIEW_FUNCTIONS_MAX or
   VIEW_PLACES_MAX, or -ENOMEM. */
int naming_chain(struct naming *naming, const struct store_forest *forest,
                 const struct store_node *frame, struct naming_chain *ret);

/* The same for the innermost function only, to which the time belongs. */
int naming_find(struct naming *naming, const struct store_forest *forest,
                const struct store_node *frame, uint32_t *ret_function);

#endif
