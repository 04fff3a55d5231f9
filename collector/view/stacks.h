/* SPDX-License-Identifier: Apache-2.0 */
/* How the stacks of a tree ended, and why some are short. */
#ifndef VIEW_STACKS_H
#define VIEW_STACKS_H

#include "view.h"

enum { STACKS_ENDS_IN_MAX = 10 };

/* Stacks with END and their outermost frame in MODULE. */
struct stacks_row {
  enum stack_end end; /* TRUNCATED, NO_TABLE, BAD or OTHER */
  const char *module;
  wide_sum weight;
};

/* Returns the weight of all samples of TREE that have stacks. */
wide_sum stacks_total(const struct view_tree *tree);

/* Lists where the short stacks of TREE end, the heaviest STACKS_ENDS_IN_MAX rows first, in ARENA.
   Returns 0 or -ENOMEM. */
int stacks_ends_in(const struct view_tree *tree, struct arena *arena, struct stacks_row **ret,
                   uint32_t *ret_count);

/* Returns the meaning of END and possible remedies for a reader; "" for a complete stack. */
const char *stacks_meaning(enum stack_end end);

/* Returns the reason why the stacks of ROW end there. */
const char *stacks_why(const struct stacks_row *row);

#endif
