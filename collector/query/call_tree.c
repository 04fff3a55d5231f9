/* SPDX-License-Identifier: Apache-2.0 */
/* One named tree out of many blocks.

     stored     (parent, module, address) nodes of a day, rows that point at leaves
     answer     (parent, function) nodes, self and total

   Each stored node is translated once for a board and a day: climb to the nearest ancestor that
   has been, then come back down, finding or adding a child for each function.  Stored nodes that
   differ in address only, or lie in files of other days, or come from other builds with the same
   names, so become one.  A node is always added after its parent, which is why one backward pass
   over the array makes the totals.

   The arrays grow outside the caller's arena, within fixed limits, and are copied into it at the
   end: an arena cannot grow an array without leaving the old one behind. */
#include "query.h"

#include "common/arena.h"
#include "common/clock.h"
#include "common/table.h"
#include "marks.h"
#include "naming.h"
#include "selector.h"
#include "store/store_read.h"

#include <errno.h>
#include <stdlib.h>

enum { QUERY_NODES_MAX = 2000000 };

struct builder {
  const struct query_range *range;
  struct naming naming;
  struct query_node *nodes;
  uint32_t node_count, node_room;
  struct table by_parent; /* (parent, function) -> node */
  struct marks marks;

  char *board; /* whose blocks are being shown, and of which forest: */
  uint64_t forest_id;
  uint32_t *translated; /* stored node -> ours; 0 (our root): not yet */
  uint32_t translated_room;
  uint32_t *path; /* stored nodes on the way up */
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

static int add_node(struct builder *builder, uint32_t parent, uint32_t function) {
  if (builder->node_count == QUERY_NODES_MAX) return -EOVERFLOW;
  if (builder->node_count == builder->node_room) {
    uint32_t room = builder->node_room > 0 ? builder->node_room * 2 : 1024;
    struct query_node *more = reallocarray(builder->nodes, room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    builder->nodes = more;
    builder->node_room = room;
  }
  builder->nodes[builder->node_count++] =
      (struct query_node){.parent = parent, .function = function};
  return 0;
}

static int child_of(struct builder *builder, uint32_t parent, uint32_t function, uint32_t *ret) {
  uint64_t key = (uint64_t)parent << 32 | function; /* is the pair: no two share it */
  uint32_t cursor;
  uint32_t at = table_find(&builder->by_parent, key, &cursor);
  if (at == TABLE_NONE) {
    int error = add_node(builder, parent, function);
    if (error != 0) return error;
    at = builder->node_count - 1;
    error = table_add(&builder->by_parent, key, at);
    if (error != 0) return error;
  }
  *ret = at;
  return 0;
}

/* Names depend on the board and node numbers on the forest: when either changes, nothing is
   translated yet. */
static int turn_to(struct builder *builder, const char *board, const struct store_forest *forest) {
  bool is_same = builder->board != NULL && strcmp(builder->board, board) == 0;
  if (is_same && builder->forest_id == forest->id) return 0;
  if (!is_same) {
    char *copy = strdup(board);
    if (copy == NULL) return -ENOMEM;
    free(builder->board);
    builder->board = copy;
  }
  int error = grow(&builder->translated, &builder->translated_room, forest->node_count);
  if (error != 0) return error;
  memset(builder->translated, 0, forest->node_count * sizeof *builder->translated);
  builder->forest_id = forest->id;
  naming_turn(&builder->naming);
  return 0;
}

static int translate(struct builder *builder, const struct store_forest *forest, uint32_t node,
                     uint32_t *ret) {
  uint32_t depth = 0, ours = 0, function = 0;
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
    int error =
        naming_find(&builder->naming, builder->board, forest, &forest->nodes[at], &function);
    if (error == 0) error = child_of(builder, ours, function, &ours);
    if (error != 0) return error;
    builder->translated[at] = ours;
  }
  *ret = ours;
  return 0;
}

static bool is_late(const struct query_range *range) {
  return range->deadline_ns != 0 && clock_monotonic_ns() >= range->deadline_ns;
}

static int wants(void *context, const struct store_series *series) {
  const struct builder *builder = context;
  const struct selector *selector = builder->range->selector;
  return selector == NULL || selector_matches(selector, series);
}

static int on_block(void *context, const struct store_series *series,
                    const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                    const struct store_row *rows, size_t count) {
  struct builder *builder = context;
  const char *board = store_series_label(series, "board");
  (void)start_ms, (void)end_ms;
  if (is_late(builder->range)) return -ETIMEDOUT;
  int error = turn_to(builder, board != NULL ? board : "", forest);
  if (error == 0 && series->marks != 0)
    error = marks_add(&builder->marks, store_series_label(series, "service"), series->marks);
  for (size_t i = 0; i < count && error == 0; i++) {
    uint32_t node = builder->translated[rows[i].node];
    if (node == 0) error = translate(builder, forest, rows[i].node, &node);
    if (error != 0) return error;
    builder->nodes[node].self_weight += rows[i].weight;
    builder->nodes[node].self_count += rows[i].count;
  }
  return error;
}

struct board_count {
  const struct selector *selector;
  uint32_t all, matching;
  char **names; /* of those that match */
};

static int count_board(void *context, const struct store_board *board) {
  struct board_count *count = context;
  count->all++;
  if (!selector_may_match_board(count->selector, board->name)) return 0;
  char **more = reallocarray(count->names, count->matching + 1, sizeof *more);
  if (more == NULL) return -ENOMEM;
  count->names = more;
  count->names[count->matching] = strdup(board->name);
  if (count->names[count->matching] == NULL) return -ENOMEM;
  count->matching++;
  return 0;
}

/* Adds up what the boards that the selector can mean lost in the range. */
static int sum_loss(struct store *store, const struct query_range *range, uint64_t *loss) {
  struct board_count count = {.selector = range->selector};
  if (range->selector == NULL)
    return store_loss_in_range(store, NULL, range->from_ms, range->to_ms, loss);
  int error = store_boards(store, count_board, &count);
  if (error == 0 && count.matching == count.all)
    error = store_loss_in_range(store, NULL, range->from_ms, range->to_ms, loss);
  else
    for (uint32_t i = 0; i < count.matching && error == 0; i++)
      error = is_late(range)
                  ? -ETIMEDOUT
                  : store_loss_in_range(store, count.names[i], range->from_ms, range->to_ms, loss);
  for (uint32_t i = 0; i < count.matching; i++) free(count.names[i]);
  free(count.names);
  return error;
}

static void sum_totals(struct query_node *nodes, uint32_t count) {
  for (uint32_t i = count; i-- > 0;) {
    nodes[i].total_weight += nodes[i].self_weight;
    nodes[i].total_count += nodes[i].self_count;
    if (i == 0) break;
    nodes[nodes[i].parent].total_weight += nodes[i].total_weight;
    nodes[nodes[i].parent].total_count += nodes[i].total_count;
  }
}

static int finish(const struct builder *builder, struct arena *arena, struct query_tree *tree) {
  const struct naming *naming = &builder->naming;
  int error = marks_copy(&builder->marks, arena, &tree->marks, &tree->mark_count);
  if (error != 0) return error;
  tree->nodes = arena_array(arena, builder->node_count, sizeof *tree->nodes);
  tree->functions = arena_array(arena, naming->function_count, sizeof *tree->functions);
  if (tree->nodes == NULL || tree->functions == NULL) return -ENOMEM;
  sum_totals(builder->nodes, builder->node_count);
  memcpy(tree->nodes, builder->nodes, builder->node_count * sizeof *tree->nodes);
  memcpy(tree->functions, naming->functions, naming->function_count * sizeof *tree->functions);
  tree->node_count = builder->node_count;
  tree->function_count = naming->function_count;
  tree->total_weight = tree->nodes[0].total_weight;
  tree->total_count = tree->nodes[0].total_count;
  return 0;
}

static void release(struct builder *builder) {
  naming_fini(&builder->naming);
  table_fini(&builder->by_parent);
  marks_fini(&builder->marks);
  free(builder->nodes);
  free(builder->board);
  free(builder->translated);
  free(builder->path);
}

int query_tree(const struct query_source *source, const struct query_range *range,
               struct arena *arena, struct query_tree *ret) {
  struct builder builder = {.range = range};
  struct query_tree tree = {0};
  const struct store_scan scan = {.from_ms = range->from_ms,
                                  .to_ms = range->to_ms,
                                  .type = range->type,
                                  .matches = wants,
                                  .on_block = on_block,
                                  .context = &builder};
  int error = naming_init(&builder.naming, source->symbolizer, arena);
  if (error == 0) error = add_node(&builder, UINT32_MAX, 0);
  if (error == 0) error = store_scan(source->store, &scan);
  if (error == 0) error = sum_loss(source->store, range, tree.loss);
  if (error == 0) error = finish(&builder, arena, &tree);
  release(&builder);
  if (error == 0) *ret = tree;
  return error;
}
