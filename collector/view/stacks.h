/* SPDX-License-Identifier: Apache-2.0 */
/* How the stacks of a tree ended, and why some are short. */
#ifndef VIEW_STACKS_H
#define VIEW_STACKS_H

#include "view.h"

enum { STACKS_ENDS_IN_MAX = 10 };

/* The outermost frames of stacks that END are in MODULE. */
struct stacks_row {
  enum stack_end end; /* TRUNCATED, NO_TABLE, BAD or OTHER */
  const char *module;
  wide_sum weight;
};

/* Returns the weight of all samples of TREE that are stacks. */
wide_sum stacks_total(const struct view_tree *tree);

/* Where the short stacks of TREE end, the heaviest STACKS_ENDS_IN_MAX rows first, in ARENA.
   Returns 0 or -ENOMEM. */
int stacks_ends_in(const struct view_tree *tree, struct arena *arena, struct stacks_row **ret,
                   uint32_t *ret_count);

/* What END means for a reader and what can be done about it; "" of a complete one. */
const char *stacks_meaning(enum stack_end end);

/* Why the stacks of ROW end where they do. */
const char *stacks_why(const struct stacks_row *row);

#endif
