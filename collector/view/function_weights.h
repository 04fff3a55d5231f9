/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the weights of functions, group by group of a tree. */
#ifndef VIEW_FUNCTION_WEIGHTS_H
#define VIEW_FUNCTION_WEIGHTS_H

#include "view.h"

struct function_weights {
  uint32_t node_count, function_count;
  struct function_step *steps; /* one a node */
  uint64_t *through;           /* the weight passing through each node */
  uint64_t *self, *total;      /* by function; the root's (0) are meaningless */
};

/* Sets RET[node] to whether no node above it has its class. CLASS_OF gives each function's class,
   below CLASS_COUNT. Returns 0 or -ENOMEM. */
int function_weights_outermost(const struct view_tree *tree, const uint32_t *class_of,
                               uint32_t class_count, struct arena *arena, bool *ret);

/* Allocates in ARENA. COUNTS[node] is true for the outermost node of its function in a stack. Keeps
   neither TREE nor COUNTS. Returns 0 or -ENOMEM. */
int function_weights_init(struct function_weights *weights, const struct view_tree *tree,
                          const bool *counts, struct arena *arena);

/* Clear all weights, and add those of GROUP of the tree. */
void function_weights_clear(struct function_weights *weights);
void function_weights_add(struct function_weights *weights, const struct group *group);

#endif
