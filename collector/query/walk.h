/* SPDX-License-Identifier: Apache-2.0 */
/* Walks all samples of a selection, block by block, and computes the summary that every answer
   begins with. */
#ifndef QUERY_WALK_H
#define QUERY_WALK_H

#include "query.h"
#include "reading.h"
#include "store/store_read.h"

/* Borrowed during the call. */
struct walk_block {
  const struct store_series *series;
  const struct store_forest *forest;
  const char *board; /* "": several, merged into GROUP (groups_turn_merged) */
  unsigned group;
  uint64_t start_ms, end_ms;
  const struct store_row *rows;
  size_t count;
};

struct walk {
  /* Called for each block. Other than 0 ends the walk, which returns it. */
  int (*on_block)(void *context, const struct walk_block *block);
  void *context;
  struct reading_need need;
};

/* Passes all blocks of RANGE to WALK. Fills the sums of SUMMARY in ARENA: weights, counts, loss,
   marks, and evidence if rows are needed; no nodes or functions. Returns 0; -ETIMEDOUT after the
   deadline; -ENOMEM; the result of on_block; or -errno. */
int walk_run(const struct query_source *source, const struct query_range *range,
             const struct walk *walk, struct arena *arena, struct view_tree *summary);

/* Makes BLOCK's board and time, or its merged group, current in GROUPS. */
void walk_turn(struct groups *groups, const struct walk_block *block);

/* Returns the name of MODULE in answers: a file's name without its folder. Points into MODULE. */
const char *walk_module_name(const struct store_module *module);

#endif
