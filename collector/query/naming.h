/* SPDX-License-Identifier: Apache-2.0 */
/* Frames to functions, within one query: each function once, each address looked up once. */
#ifndef QUERY_NAMING_H
#define QUERY_NAMING_H

#include "common/table.h"
#include "store/store_read.h"
#include "view/function_table.h"

struct symbolizer;

struct naming {
  struct symbolizer *symbolizer; /* NULL: nothing has a name */
  struct function_table *functions;
  struct table by_address; /* of one (board, forest) */
  struct named_address *addresses;
  uint32_t address_count, address_room;
};

/* Borrows both. */
void naming_init(struct naming *naming, struct symbolizer *symbolizer,
                 struct function_table *functions);
void naming_fini(struct naming *naming);

/* Another board or forest follows: its addresses may have other names. */
void naming_turn(struct naming *naming);

/* Finds the function of ADDRESS in MODULE (an index, of FOREST) as BOARD's samples see it.
   Returns 0, -EOVERFLOW over VIEW_FUNCTIONS_MAX, or -ENOMEM. */
int naming_find(struct naming *naming, const char *board, const struct store_forest *forest,
                const struct store_node *frame, uint32_t *ret_function);

#endif
