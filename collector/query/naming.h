/* SPDX-License-Identifier: Apache-2.0 */
/* Frames to functions, within one query: each function once, each address looked up once. */
#ifndef QUERY_NAMING_H
#define QUERY_NAMING_H

#include "common/table.h"
#include "query.h"
#include "store/store_read.h"

struct symbolizer;

enum { QUERY_FUNCTIONS_MAX = 2 << 20 };

struct naming {
  struct symbolizer *symbolizer; /* NULL: nothing has a name */
  struct arena *arena;           /* for names made here */
  uint64_t seed;                 /* of the hashes: boards choose what is hashed */
  struct table by_name;
  struct query_function *functions;
  uint32_t function_count, function_room;
  struct table by_address; /* of one (board, forest) */
  struct named_address *addresses;
  uint32_t address_count, address_room;
};

/* Starts with one function, index 0, called "root". */
int naming_init(struct naming *naming, struct symbolizer *symbolizer, struct arena *arena);
void naming_fini(struct naming *naming);

/* Another board or forest follows: its addresses may have other names. */
void naming_turn(struct naming *naming);

/* Finds the function of ADDRESS in MODULE (an index, of FOREST) as BOARD's samples see it.
   Returns 0, -EOVERFLOW over QUERY_FUNCTIONS_MAX, or -ENOMEM. */
int naming_find(struct naming *naming, const char *board, const struct store_forest *forest,
                const struct store_node *frame, uint32_t *ret_function);

#endif
