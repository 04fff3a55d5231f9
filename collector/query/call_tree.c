/* SPDX-License-Identifier: Apache-2.0 */
/* Builds one named tree from many blocks.

     stored     (parent, module, address) nodes of a day, rows that point at leaves
     answer     (parent, function) nodes, self and total

   Each stored node is translated once for all boards that have the same files (naming.c). The
   translation climbs to the nearest translated ancestor, then descends, finding or adding a
   child for each function (several for a frame with inlined functions). So stored nodes become
   one if they differ only in address, file of a day, or build with the same names.
   view/tree_builder makes the tree; this file supplies its samples. */
#include "query.h"

#include "naming.h"
#include "range.h"
#include "reading.h"
#include "store/store_read.h"
#include "view/marks.h"
#include "view/programs.h"
#include "view/tree_builder.h"

#include "common/cutoff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct builder {
  const struct query_range *range;
  const struct query_pairs *pairs; /* NULL: pairs are leaves of the tree */
  struct naming naming;
  struct tree_builder tree;
  struct marks marks;
  struct programs programs;

  uint32_t base; /* where the stacks of the current block begin: the tree's root, or the node of
                    its label's value */
  bool has_rest; /* a row is of the node STORE_REST */
  uint32_t *translated; /* stored node -> tree node; 0 (the root): not yet */
  uint32_t translated_room;
  uint32_t *path; /* stored nodes from the current one up */
  uint32_t path_room;
};

static int grow(uint32_t **array, uint32_t *room, uint32_t needed) {
  if (needed <= *room) return 0;
  uint32_t *more = reallocarray(*array, needed, sizeof *more);
  if (more == NULL) return -ENOMEM;
  *array = more;
  *room = needed;
  return 0;
}

/* If nodes may have other functions than before, clears the translation. */
static int turn_to(struct builder *builder, const char *board, const struct store_forest *forest) {
  int holds = naming_turn(&builder->naming, board, forest);
  if (holds != 0) return holds < 0 ? holds : 0;
  int error = grow(&builder->translated, &builder->translated_room, forest->node_count);
  if (error == 0) memset(builder->translated, 0, forest->node_count * sizeof *builder->translated);
  return error;
}

/* Stacks of SERIES begin below its value of the requested label. The translation for another
   value is invalid. */
static int turn_to_value(struct builder *builder, const struct store_series *series,
                         const struct store_forest *forest) {
  if (builder->range->by == NULL) return 0;
  const char *value = store_series_label(series, builder->range->by);
  const struct view_function function = {.name = value != NULL ? value : "", .module = ""};
  uint32_t id, base;
  int error = function_table_intern(&builder->tree.functions, &function, false, &id);
  if (error == 0) error = tree_builder_child(&builder->tree, 0, id, &base);
  if (error != 0 || base == builder->base) return error;
  builder->base = base;
  memset(builder->translated, 0, forest->node_count * sizeof *builder->translated);
  return 0;
}

/* Adds the functions at FRAME below PARENT, several if some were inlined. RET: the innermost. */
static int descend(struct builder *builder, const struct store_forest *forest,
                   const struct store_node *frame, uint32_t parent, uint32_t *ret) {
  struct naming_chain chain;
  int error = naming_chain(&builder->naming, forest, frame, &chain);
  for (uint32_t i = 0; error == 0 && i < chain.count; i++)
    error = tree_builder_step(&builder->tree, parent, &chain.steps[i], &parent);
  if (error == 0) *ret = parent;
  return error;
}

static int translate(struct builder *builder, const struct store_forest *forest, uint32_t node,
                     uint32_t *ret) {
  uint32_t depth = 0, ours = builder->base;
  uint32_t at = node;
  for (; at != BATCH_NONE && builder->translated[at] == 0; at = forest->nodes[at].parent) {
    if (depth == builder->path_room) {
      int error = grow(&builder->path, &builder->path_room, depth > 0 ? depth * 2 : 256);
      if (error != 0) return error;
    }
    builder->path[depth++] = at;
  }
  if (at != BATCH_NONE) ours = builder->translated[at];
  while (depth > 0) {
    at = builder->path[--depth];
    int error = descend(builder, forest, &forest->nodes[at], ours, &ours);
    if (error != 0) return error;
    builder->translated[at] = ours;
  }
  *ret = ours;
  return 0;
}

/* The parent of a SAMPLE_CPU_LR leaf is the target of the link register: within the function
   itself as often as in its caller. So only the leaf is counted. */
static int translate_leaf(struct builder *builder, const struct store_forest *forest, uint32_t node,
                          uint32_t *ret) {
  return descend(builder, forest, &forest->nodes[node], builder->base, ret);
}

static int wants(void *context, const struct store_series *series) {
  const struct builder *builder = context;
  return range_wants(builder->range, series);
}

/* For stretches of time, boards merged by the store are one board. */
static void turn_to_unit(struct builder *builder, const struct store_series *series,
                         uint64_t start_ms, uint64_t end_ms) {
  const char *board = store_series_label(series, "board");
  char merged[16];
  if (series->group > 0 && !builder->range->is_of_these) {
    tree_builder_turn_merged(&builder->tree, series->group - 1, start_ms, end_ms);
    return;
  }
  snprintf(merged, sizeof merged, "%u", series->group);
  tree_builder_turn(&builder->tree, board != NULL ? board : merged, start_ms, end_ms);
}

static int on_block(void *context, const struct store_series *series,
                    const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                    const struct store_row *rows, size_t count) {
  struct builder *builder = context;
  const char *board = store_series_label(series, "board");
  bool are_told = (series->marks & MARK_ENDS_TOLD) != 0;
  int error = turn_to(builder, board != NULL ? board : "", forest);
  if (error == 0) error = turn_to_value(builder, series, forest);
  if (!builder->range->without_intervals) {
    turn_to_unit(builder, series, start_ms, end_ms);
    if (builder->pairs != NULL)
      builder->pairs->turn(builder->pairs->context, board != NULL ? board : "", start_ms, end_ms);
  }
  if (error == 0 && series->marks != 0)
    error = marks_add(&builder->marks, store_series_label(series, "service"), series->marks);
  bool is_stack = series->type != SAMPLE_CPU_LR;
  if (error == 0)
    error = programs_add(&builder->programs, store_series_label(series, "service"),
                         store_series_label(series, "exe"));
  if (error == 0) error = naming_prepare(&builder->naming, forest, rows, count, is_stack);
  for (size_t i = 0; i < count && error == 0; i++) {
    if (cutoff_is_at(builder->range->cutoff, i)) return -ETIMEDOUT;
    builder->has_rest |= forest->rest > 0 && rows[i].node == forest->rest - 1;
    if (!is_stack && builder->pairs != NULL) {
      error = builder->pairs->on_row(builder->pairs->context, &builder->naming, series, forest,
                                     &rows[i]);
      continue;
    }
    uint32_t node = is_stack ? builder->translated[rows[i].node] : 0;
    if (!is_stack)
      error = translate_leaf(builder, forest, rows[i].node, &node);
    else if (node == 0)
      error = translate(builder, forest, rows[i].node, &node);
    if (error != 0) return error;
    tree_builder_add(&builder->tree, node, rows[i].count, rows[i].weight);
    if (is_stack && rows[i].count > 0)
      tree_builder_note_end(&builder->tree, node, are_told, rows[i].weight);
  }
  return error;
}

static bool is_by_board(const struct query_range *range) {
  return range->by != NULL && strcmp(range->by, "board") == 0;
}

static void release(struct builder *builder) {
  naming_fini(&builder->naming);
  tree_builder_fini(&builder->tree);
  marks_fini(&builder->marks);
  programs_fini(&builder->programs);
  free(builder->translated);
  free(builder->path);
}

int query_tree(const struct query_source *source, const struct query_range *range,
               struct arena *arena, struct view_tree *ret) {
  return query_tree_and_pairs(source, range, NULL, arena, ret);
}

int query_tree_and_pairs(const struct query_source *source, const struct query_range *range,
                         const struct query_pairs *pairs, struct arena *arena,
                         struct view_tree *ret) {
  struct builder builder = {.range = range, .pairs = pairs};
  struct view_tree tree = {0};
  const struct reading_need need = {.boards = pairs != NULL || is_by_board(range)};
  struct store_scan scan = {.types = range->types,
                            .matches = wants,
                            .on_block = on_block,
                            .cutoff = range->cutoff,
                            .context = &builder};
  uint64_t loss[LOSS_REASON_COUNT] = {0};
  int error = tree_builder_init(&builder.tree, arena);
  builder.tree.groups.is_of_times = range->is_of_these;
  naming_init(&builder.naming, source->symbolizer, &builder.tree.functions,
              range->places != 0 ? &builder.tree.places : NULL);
  builder.naming.cutoff = range->cutoff;
  builder.tree.places.parts = range->places;
  if (error == 0) error = reading_choose(source->store, range, &need, &scan);
  if (error == 0) error = store_scan(source->store, &scan);
  if (error == 0 && !range->is_of_settled) error = range_loss(source->store, range, loss);
  if (error == 0) error = tree_builder_finish(&builder.tree, arena, &tree);
  if (error == 0) error = marks_copy(&builder.marks, arena, &tree.marks, &tree.mark_count);
  if (error == 0)
    error = programs_copy(&builder.programs, arena, &tree.programs, &tree.program_count);
  memcpy(tree.loss, loss, sizeof tree.loss);
  tree.cutoff = range->cutoff;
  tree.has_rest = builder.has_rest;
  release(&builder);
  if (error == 0) *ret = tree;
  return error;
}
