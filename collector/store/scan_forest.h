/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the forests of several files into one, in which the same node has one number. */
#ifndef STORE_SCAN_FOREST_H
#define STORE_SCAN_FOREST_H

#include "common/arena.h"
#include "common/table.h"
#include "store_read.h"

/* The pseudo module of nodes that a scan does not tell apart. */
#define STORE_REST "[rest]"

struct scan_forest {
  struct arena arena;        /* ids and paths of modules */
  struct store_forest whole; /* the merged forest; its id changes with each file */
  uint64_t epoch;            /* of its numbers: changes when cleared, and differs between forests */
  struct store_module *modules;
  struct store_node *nodes;
  uint32_t module_room, node_room;
  uint64_t seed;
  bool is_indexed; /* the tables hold all nodes; not needed for one file */
  struct table by_module, by_node;
};

/* Returns NULL without memory or a random seed. */
struct scan_forest *scan_forest_new(void);
void scan_forest_free(struct scan_forest *forest);

/* Clears all but the id. */
void scan_forest_clear(struct scan_forest *forest);

/* Adds FILE, whose parents come before children. RET, which the caller frees, has the new number
   of each of its nodes; NULL if they are unchanged. Returns 0 or -ENOMEM. */
int scan_forest_add(struct scan_forest *forest, const struct store_forest *file, uint32_t **ret);

/* Adds the node of STORE_REST unless it exists. Call it after the first file. Returns 0 or
 * -ENOMEM. */
int scan_forest_add_rest(struct scan_forest *forest);

#endif
