/* SPDX-License-Identifier: Apache-2.0 */
/* Builds (parent, function) nodes with self and total.

   Frames that differ only in address become one node, so the size of a tree depends on the number
   of call paths, not of samples. If lines or addresses are requested, a node is a place in a
   function (in callers, that of the call); the sums over functions are the same. A node is always
   added after its parent, so one backward pass over the array makes the totals.

   The arrays grow outside the caller's arena, because an arena cannot free an outgrown array. They
   have fixed limits and are copied into the arena at the end. */
#include "tree_builder.h"

#include "common/arena.h"
#include "pseudo_hints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024 };

/* The root of the whole tree has no stacks of its own. */
static uint8_t end_of(const struct tree_builder *builder, uint32_t parent, uint32_t function) {
  if (parent == UINT32_MAX) return STACK_UNTOLD;
  return parent == 0 ? (uint8_t)builder->functions.functions[function].end : builder->ends[parent];
}

static int add_node(struct tree_builder *builder, uint32_t parent, const struct tree_step *step) {
  if (builder->node_count == VIEW_NODES_MAX) return -EOVERFLOW;
  if (builder->node_count == builder->node_room) {
    uint32_t room = builder->node_room > 0 ? builder->node_room * 2 : FIRST_ROOM;
    struct view_node *more = reallocarray(builder->nodes, room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    builder->nodes = more;
    uint8_t *more_ends = realloc(builder->ends, room);
    if (more_ends == NULL) return -ENOMEM;
    builder->ends = more_ends;
    builder->node_room = room;
  }
  builder->ends[builder->node_count] = end_of(builder, parent, step->function);
  builder->nodes[builder->node_count++] = (struct view_node){.parent = parent,
                                                             .function = step->function,
                                                             .place = step->place,
                                                             .is_inlined = step->is_inlined};
  return 0;
}

int tree_builder_init(struct tree_builder *builder, struct arena *arena) {
  *builder = (struct tree_builder){.groups = {.arena = arena},
                                   .boards = {.arena = arena, .is_of_boards = true}};
  int error = function_table_init(&builder->functions, arena);
  if (error == 0) error = place_table_init(&builder->places);
  return error != 0 ? error : add_node(builder, UINT32_MAX, &(struct tree_step){.function = 0});
}

void tree_builder_fini(struct tree_builder *builder) {
  function_table_fini(&builder->functions);
  place_table_fini(&builder->places);
  table_fini(&builder->by_parent);
  free(builder->nodes);
  free(builder->ends);
  groups_fini(&builder->groups);
  groups_fini(&builder->boards);
}

/* Without a place the key is the pair itself. With a place it is hashed with the table's seed: the
   number of lines of a function is untrusted, and collisions must not be constructible. */
static uint64_t key_of(const struct tree_builder *builder, uint32_t parent,
                       const struct tree_step *step) {
  const uint32_t words[3] = {parent, step->function, step->place};
  if (step->place == 0) return (uint64_t)parent << 32 | step->function;
  return function_table_hash(&builder->functions, words, sizeof words);
}

static bool is_step(const struct view_node *node, uint32_t parent, const struct tree_step *step) {
  return node->parent == parent && node->function == step->function && node->place == step->place;
}

int tree_builder_step(struct tree_builder *builder, uint32_t parent, const struct tree_step *step,
                      uint32_t *ret) {
  uint64_t key = key_of(builder, parent, step);
  uint32_t cursor;
  uint32_t at = table_find(&builder->by_parent, key, &cursor);
  while (at != TABLE_NONE && !is_step(&builder->nodes[at], parent, step))
    at = table_next(&builder->by_parent, key, &cursor);
  if (at == TABLE_NONE) {
    int error = add_node(builder, parent, step);
    if (error != 0) return error;
    at = builder->node_count - 1;
    error = table_add(&builder->by_parent, key, at);
    if (error != 0) return error;
  }
  builder->nodes[at].is_inlined &= step->is_inlined;
  *ret = at;
  return 0;
}

int tree_builder_child(struct tree_builder *builder, uint32_t parent, uint32_t function,
                       uint32_t *ret) {
  return tree_builder_step(builder, parent, &(struct tree_step){.function = function}, ret);
}

void tree_builder_turn(struct tree_builder *builder, const char *board, uint64_t start_ms,
                       uint64_t end_ms) {
  groups_turn(&builder->groups, board, start_ms, end_ms);
  if (builder->groups.is_of_times) groups_turn(&builder->boards, board, start_ms, end_ms);
}

void tree_builder_turn_merged(struct tree_builder *builder, unsigned group, uint64_t start_ms,
                              uint64_t end_ms) {
  groups_turn_merged(&builder->groups, group, start_ms, end_ms);
}

void tree_builder_add(struct tree_builder *builder, uint32_t node, uint64_t count,
                      uint64_t weight) {
  builder->nodes[node].self_weight += weight;
  builder->nodes[node].self_count = sum_of(builder->nodes[node].self_count, count);
  struct evidence samples = {0, 0};
  evidence_add(&samples, count, weight);
  evidence_join(&builder->evidence, &samples);
  groups_add_evidence(&builder->groups, &samples);
  int error = groups_add(&builder->groups, node, weight);
  if (error == 0) error = groups_add(&builder->boards, node, weight);
  if (error != 0) builder->error = error;
}

/* Returns whether NODE is time or a place without a stack; those nodes are directly below the root.
 */
static bool is_no_stack(const struct tree_builder *builder, uint32_t node) {
  if (builder->nodes[node].parent != 0) return false; /* nearly all nodes: skips comparing names */
  return pseudo_is_placeless(builder->functions.functions[builder->nodes[node].function].name);
}

void tree_builder_note_end(struct tree_builder *builder, uint32_t node, bool are_told,
                           uint64_t weight) {
  enum stack_end end = (enum stack_end)builder->ends[node];
  if (is_no_stack(builder, node)) return;
  if (end == STACK_UNTOLD && are_told) end = STACK_COMPLETE;
  builder->stacks_weight[end] += weight;
}

static void sum_totals(struct view_node *nodes, uint32_t count) {
  for (uint32_t i = count; i-- > 0;) {
    nodes[i].total_weight += nodes[i].self_weight;
    nodes[i].total_count = sum_of(nodes[i].total_count, nodes[i].self_count);
    if (i == 0) break;
    nodes[nodes[i].parent].total_weight += nodes[i].total_weight;
    uint64_t *above = &nodes[nodes[i].parent].total_count;
    *above = sum_of(*above, nodes[i].total_count);
  }
}

int tree_builder_finish(struct tree_builder *builder, struct arena *arena, struct view_tree *ret) {
  struct function_table *functions = &builder->functions;
  const struct place_table *places = &builder->places;
  struct view_tree tree = {.node_count = builder->node_count,
                           .function_count = functions->count,
                           .place_count = places->count,
                           .build_count = places->build_count,
                           .module_count = functions->builds.count};
  int error = builder->error != 0 ? builder->error : function_table_tell_builds(functions);
  if (error != 0) return error;
  tree.nodes = arena_array(arena, tree.node_count, sizeof *tree.nodes);
  tree.functions = arena_array(arena, tree.function_count, sizeof *tree.functions);
  struct view_place *copied = arena_array(arena, tree.place_count, sizeof *copied);
  struct view_build *builds = arena_array(arena, tree.build_count, sizeof *builds);
  const struct view_module **modules = arena_array(arena, tree.module_count, sizeof(void *));
  if (!tree.nodes || !tree.functions || !copied || !builds || !modules) return -ENOMEM;
  sum_totals(builder->nodes, builder->node_count);
  memcpy(tree.nodes, builder->nodes, tree.node_count * sizeof *tree.nodes);
  memcpy(tree.functions, functions->functions, tree.function_count * sizeof *tree.functions);
  memcpy(copied, places->places, tree.place_count * sizeof *copied);
  memcpy(builds, places->builds, tree.build_count * sizeof *builds);
  for (uint32_t i = 0; i < tree.module_count; i++) modules[i] = functions->builds.modules[i];
  tree.places = copied;
  tree.modules = modules;
  tree.builds = builds;
  tree.total_weight = tree.nodes[0].total_weight;
  tree.total_count = tree.nodes[0].total_count;
  tree.evidence = builder->evidence;
  memcpy(tree.stacks_weight, builder->stacks_weight, sizeof tree.stacks_weight);
  tree.groups = builder->groups;
  tree.boards = builder->boards;
  *ret = tree;
  return 0;
}
