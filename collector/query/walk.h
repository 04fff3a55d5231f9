/* SPDX-License-Identifier: Apache-2.0 */
/* Every sample that a range selects, block by block, and what any answer about them begins with. */
#ifndef QUERY_WALK_H
#define QUERY_WALK_H

#include "query.h"
#include "reading.h"
#include "store/store_read.h"

/* Borrowed during the call. */
struct walk_block {
  const struct store_series *series;
  const struct store_forest *forest;
  const char *board; /* "": of several, merged into GROUP (groups_turn_merged) */
  unsigned group;
  uint64_t start_ms, end_ms;
  const struct store_row *rows;
  size_t count;
};

struct walk {
  /* Non-zero ends the walk, which returns it. */
  int (*on_block)(void *context, const struct walk_block *block);
  void *context;
  struct reading_need need;
};

/* Shows WALK all blocks of RANGE.  Fills the sums of SUMMARY (weights, counts, evidence if rows are
   needed, loss, marks; no nodes, no functions), in ARENA.  Returns 0; -ETIMEDOUT past the deadline;
   -ENOMEM; what on_block returned; or -errno. */
int walk_run(const struct query_source *source, const struct query_range *range,
             const struct walk *walk, struct arena *arena, struct view_tree *summary);

/* What GROUPS are told of BLOCK. */
void walk_turn(struct groups *groups, const struct walk_block *block);

/* What MODULE is called in answers: a file's name without its folder.  Points into MODULE. */
const char *walk_module_name(const struct store_module *module);

#endif
