/* SPDX-License-Identifier: Apache-2.0 */
/* Frames to functions, within one query: each function once, each address looked up once for all
   boards that see the same files.

   Files tell many names fastest in the order of addresses, so say first what will be asked for
   (naming_prepare), and then ask (naming_chain).  What was not said is looked up when it is asked
   for. */
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
  struct symbolizer *symbolizer; /* NULL: nothing has a name */
  const struct cutoff *cutoff;   /* of looking names up */
  struct function_table *functions;
  struct place_table *places; /* NULL: places are not told apart */
  struct view_place spot;     /* of the frame in hand: build, address and start */
  char *board;                /* whose names these are, and of which forest: */
  uint64_t forest_id;
  struct table by_address;
  struct named_address *addresses;
  uint32_t *of_node; /* node of the forest -> its address; 0: none yet */
  uint32_t node_room;
  struct naming_order *order; /* NULL: none yet */
  struct name_cursor *cursor; /* in the module that was asked for last; NULL: none yet */
  struct tree_step *steps;    /* of all addresses, one after the other */
  uint32_t address_count, address_room, step_count, step_room;
  struct naming_module *modules; /* of the same forest, and the functions met by their texts: */
  uint32_t module_count, module_room;
  struct table by_text;
  struct known_text *texts;
  uint32_t text_count, text_room;
  struct translated translated; /* what translators say, before anybody else */
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

/* What follows is about nodes of FOREST as BOARD's samples see them.  Returns 1 when nodes have the
   functions that they had before the call, 0 when they may have others, or -ENOMEM. */
int naming_turn(struct naming *naming, const char *board, const struct store_forest *forest);

/* Names the leaves of ROWS, COUNT rows of FOREST, and WITH_CALLERS all that are above them. Returns
   0, -EOVERFLOW over VIEW_FUNCTIONS_MAX or VIEW_PLACES_MAX, -ETIMEDOUT, or -ENOMEM. */
int naming_prepare(struct naming *naming, const struct store_forest *forest,
                   const struct store_row *rows, size_t count, bool with_callers);

/* Finds the functions at FRAME, a node of FOREST.  Returns 0, -EOVERFLOW over VIEW_FUNCTIONS_MAX or
   VIEW_PLACES_MAX, or -ENOMEM. */
int naming_chain(struct naming *naming, const struct store_forest *forest,
                 const struct store_node *frame, struct naming_chain *ret);

/* The same, and only the innermost one: where the time is spent. */
int naming_find(struct naming *naming, const struct store_forest *forest,
                const struct store_node *frame, uint32_t *ret_function);

#endif
