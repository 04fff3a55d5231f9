/* SPDX-License-Identifier: Apache-2.0 */
/* One forest out of those of several files, in which the same node has the same number. */
#ifndef STORE_SCAN_FOREST_H
#define STORE_SCAN_FOREST_H

#include "common/arena.h"
#include "common/table.h"
#include "store_read.h"

/* The pseudo module of what a scan does not tell apart. */
#define STORE_REST "[rest]"

struct scan_forest {
  struct arena arena;        /* ids and paths of modules */
  struct store_forest whole; /* what is shown; its id changes with each file */
  uint64_t epoch;            /* of its numbers: another after clearing, and in another forest */
  struct store_module *modules;
  struct store_node *nodes;
  uint32_t module_room, node_room;
  uint64_t seed;
  bool is_indexed; /* the tables have what there is: not needed for one file */
  struct table by_module, by_node;
};

/* Returns NULL when there is no memory, or no random seed. */
struct scan_forest *scan_forest_new(void);
void scan_forest_free(struct scan_forest *forest);

/* Forgets all but the id. */
void scan_forest_clear(struct scan_forest *forest);

/* Adds FILE, whose parents come before children.  RET, the caller's to free, has the number of each
   of its nodes, or is NULL where they have the same ones.  Returns 0 or -ENOMEM. */
int scan_forest_add(struct scan_forest *forest, const struct store_forest *file, uint32_t **ret);

/* Adds the node of STORE_REST unless it is there; a file has to be before.  Returns 0 or -ENOMEM.
 */
int scan_forest_add_rest(struct scan_forest *forest);

#endif
