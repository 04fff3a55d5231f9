/* SPDX-License-Identifier: Apache-2.0 */
/* What functions weigh in one group of a tree after the other. */
#ifndef VIEW_FUNCTION_WEIGHTS_H
#define VIEW_FUNCTION_WEIGHTS_H

#include "view.h"

struct function_weights {
  uint32_t node_count, function_count;
  struct function_step *steps; /* one a node */
  uint64_t *through;           /* what passes through each node */
  uint64_t *self, *total;      /* of each function; the root's (0) mean nothing */
};

/* Sets RET[node] to whether no node above it is of its class; CLASS_OF: of each function, below
   CLASS_COUNT.  Returns 0 or -ENOMEM. */
int function_weights_outermost(const struct view_tree *tree, const uint32_t *class_of,
                               uint32_t class_count, struct arena *arena, bool *ret);

/* Room for it in ARENA.  COUNTS tells of each node whether it is the outermost of its function.
   Keeps neither.  Returns 0 or -ENOMEM. */
int function_weights_init(struct function_weights *weights, const struct view_tree *tree,
                          const bool *counts, struct arena *arena);

/* Clears both, and adds what GROUP of the tree holds. */
void function_weights_clear(struct function_weights *weights);
void function_weights_add(struct function_weights *weights, const struct group *group);

#endif
