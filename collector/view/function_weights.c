/* SPDX-License-Identifier: Apache-2.0 */
/* Self weights are those of the group's nodes.  For totals they are summed up towards the root,
   which is one pass backwards, as parents come first; a node that has one of its own function above
   it lies in what that one has counted. */
#include "function_weights.h"

#include "common/arena.h"

#include <errno.h>
#include <string.h>

int function_weights_init(struct function_weights *weights, const struct view_tree *tree,
                          const bool *counts, struct arena *arena) {
  *weights = (struct function_weights){.tree = tree, .counts = counts};
  weights->self = arena_array(arena, tree->function_count, sizeof *weights->self);
  if (weights->self == NULL) return -ENOMEM;
  if (counts == NULL) return 0;
  weights->total = arena_array(arena, tree->function_count, sizeof *weights->total);
  weights->nodes = arena_array(arena, tree->node_count, sizeof *weights->nodes);
  return weights->total == NULL || weights->nodes == NULL ? -ENOMEM : 0;
}

void function_weights_clear(struct function_weights *weights) {
  size_t len = weights->tree->function_count * sizeof *weights->self;
  memset(weights->self, 0, len);
  if (weights->total != NULL) memset(weights->total, 0, len);
}

/* Adds CHUNK, the weights of the nodes from FIRST on. */
static void add_chunk(struct function_weights *weights, const uint64_t *chunk, uint32_t first) {
  const struct view_node *nodes = &weights->tree->nodes[first];
  for (uint32_t i = 0; i < GROUPS_CHUNK_KEYS; i++)
    if (chunk[i] > 0) weights->self[nodes[i].function] += chunk[i];
  if (weights->counts == NULL) return;
  uint32_t left = weights->tree->node_count - first;
  uint32_t count = left < GROUPS_CHUNK_KEYS ? left : GROUPS_CHUNK_KEYS;
  memcpy(weights->nodes + first, chunk, count * sizeof *chunk);
}

void function_weights_add(struct function_weights *weights, const struct group *group) {
  const struct view_node *nodes = weights->tree->nodes;
  uint64_t *through = weights->nodes;
  for (uint32_t i = 0; i < group->room; i++)
    if (group->chunks[i] != NULL) add_chunk(weights, group->chunks[i], i * GROUPS_CHUNK_KEYS);
  if (weights->counts == NULL) return;
  for (uint32_t i = weights->tree->node_count; i-- > 0;) {
    uint64_t weight = through[i];
    if (weight == 0) continue;
    through[i] = 0;
    if (weights->counts[i]) weights->total[nodes[i].function] += weight;
    if (i > 0) through[nodes[i].parent] += weight;
  }
}
