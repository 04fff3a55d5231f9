/* SPDX-License-Identifier: Apache-2.0 */
/* What functions weigh in one group of a tree after the other. */
#ifndef VIEW_FUNCTION_WEIGHTS_H
#define VIEW_FUNCTION_WEIGHTS_H

#include "view.h"

struct function_weights {
  const struct view_tree *tree;
  const bool *counts;     /* of each node: is the outermost of its function; NULL: no totals */
  uint64_t *nodes;        /* what passes through each */
  uint64_t *self, *total; /* of each function; TOTAL is NULL without COUNTS */
};

/* Room for it in ARENA; borrows TREE and COUNTS.  Returns 0 or -ENOMEM. */
int function_weights_init(struct function_weights *weights, const struct view_tree *tree,
                          const bool *counts, struct arena *arena);

/* Clears both, and adds what GROUP of the tree holds. */
void function_weights_clear(struct function_weights *weights);
void function_weights_add(struct function_weights *weights, const struct group *group);

#endif
