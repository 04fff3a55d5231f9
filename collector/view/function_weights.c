/* SPDX-License-Identifier: Apache-2.0 */
/* Self weights are sums over the group's nodes. Totals are summed towards the root in one backward
   pass, as parents come first. A node below another of its own function is already included in that
   node's total.

   Each group needs a pass over all nodes, so the needed fields of a node are stored contiguously in
   12 bytes. A tree of 50 000 nodes then fits a CPU's cache; its full nodes of 48 bytes do not. */
#include "function_weights.h"

#include "common/arena.h"

#include <errno.h>
#include <string.h>

/* The root's function, which no answer shows, collects weights that are not counted. */
enum { NOWHERE = 0 };

struct function_step {
  uint32_t parent;
  uint32_t function;
  uint32_t counted_in; /* the function with this node in its total, or NOWHERE */
};

/* Walks the tree depth first, with a counter for each class: the number of its nodes open above. */
int function_weights_outermost(const struct view_tree *tree, const uint32_t *class_of,
                               uint32_t class_count, struct arena *arena, bool *ret) {
  uint32_t *open = arena_array(arena, class_count, sizeof *open);
  uint32_t *child = arena_array(arena, tree->node_count, sizeof *child); /* 0: none */
  uint32_t *sibling = arena_array(arena, tree->node_count, sizeof *sibling);
  if (open == NULL || child == NULL || sibling == NULL) return -ENOMEM;
  for (uint32_t i = tree->node_count; i-- > 1;) {
    sibling[i] = child[tree->nodes[i].parent];
    child[tree->nodes[i].parent] = i;
  }
  for (uint32_t at = child[0]; at != 0;) {
    ret[at] = open[class_of[tree->nodes[at].function]]++ == 0;
    if (child[at] != 0) {
      at = child[at];
      continue;
    }
    while (at != 0 && sibling[at] == 0) {
      open[class_of[tree->nodes[at].function]]--;
      at = tree->nodes[at].parent;
    }
    if (at == 0) break;
    open[class_of[tree->nodes[at].function]]--;
    at = sibling[at];
  }
  return 0;
}

int function_weights_init(struct function_weights *weights, const struct view_tree *tree,
                          const bool *counts, struct arena *arena) {
  *weights = (struct function_weights){.node_count = tree->node_count,
                                       .function_count = tree->function_count};
  weights->self = arena_array(arena, tree->function_count, sizeof *weights->self);
  weights->total = arena_array(arena, tree->function_count, sizeof *weights->total);
  weights->through = arena_array(arena, tree->node_count, sizeof *weights->through);
  weights->steps = arena_array(arena, tree->node_count, sizeof *weights->steps);
  if (!weights->self || !weights->total || !weights->through || !weights->steps) return -ENOMEM;
  for (uint32_t i = 0; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    weights->steps[i] = (struct function_step){.parent = i > 0 ? node->parent : 0,
                                               .function = node->function,
                                               .counted_in = counts[i] ? node->function : NOWHERE};
  }
  return 0;
}

void function_weights_clear(struct function_weights *weights) {
  memset(weights->self, 0, weights->function_count * sizeof *weights->self);
  memset(weights->total, 0, weights->function_count * sizeof *weights->total);
}

static void add(uint64_t *sum, uint64_t weight) {
  *sum = sum_of(*sum, weight);
}

/* Adds CHUNK, the weights of the nodes from FIRST on. */
static void add_chunk(struct function_weights *weights, const uint64_t *chunk, uint32_t first) {
  uint32_t left = weights->node_count - first;
  uint32_t count = left < GROUPS_CHUNK_KEYS ? left : GROUPS_CHUNK_KEYS;
  for (uint32_t i = 0; i < count; i++)
    add(&weights->self[weights->steps[first + i].function], chunk[i]);
  memcpy(weights->through + first, chunk, count * sizeof *chunk);
}

void function_weights_add(struct function_weights *weights, const struct group *group) {
  for (uint32_t i = 0; i < group->room; i++)
    if (group->chunks[i] != NULL) add_chunk(weights, group->chunks[i], i * GROUPS_CHUNK_KEYS);
  for (uint32_t i = weights->node_count; i-- > 0;) {
    const struct function_step *step = &weights->steps[i];
    uint64_t weight = weights->through[i];
    if (weight == 0) continue;
    weights->through[i] = 0;
    add(&weights->total[step->counted_in], weight);
    if (i > 0) add(&weights->through[step->parent], weight);
  }
}
