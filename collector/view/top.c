/* SPDX-License-Identifier: Apache-2.0 */
/* The function table.

   Self is what the nodes of a function hold themselves.  Total is what passes through it, each
   stack once: in main -> walk -> walk -> walk the inner two lie in what the outer has counted.  So
   a node adds its total only when none above it is of the same function, which a walk in depth
   knows from a counter a function: how many of it are open above.

   Shares are of weight.  Their intervals come from how the groups of the tree differ (ratio.c), one
   pass over a group's nodes each, and are never narrower than what the samples allow, of which
   there are as many of one weight as tell what these do (evidence.c): where the rate never changed,
   exactly their count.  What clocks told is weight but no evidence of where it was spent, and so no
   samples. */
#include "view.h"

#include "common/arena.h"
#include "function_weights.h"
#include "ratio.h"

#include <errno.h>
#include <stdlib.h>

enum { NONE = UINT32_MAX };

struct walk {
  const struct view_tree *tree;
  struct view_top_row *rows; /* one a function */
  uint32_t *open;            /* per function: its nodes on the path */
  bool *counts;              /* per node: none above it is of its function */
  uint32_t *first_child, *next_sibling;
};

static int start_walk(struct walk *walk, struct arena *arena) {
  const struct view_tree *tree = walk->tree;
  walk->rows = arena_array(arena, tree->function_count, sizeof *walk->rows);
  walk->open = arena_array(arena, tree->function_count, sizeof *walk->open);
  walk->counts = arena_array(arena, tree->node_count, sizeof *walk->counts);
  walk->first_child = arena_array(arena, tree->node_count, sizeof *walk->first_child);
  walk->next_sibling = arena_array(arena, tree->node_count, sizeof *walk->next_sibling);
  if (!walk->rows || !walk->open || !walk->counts || !walk->first_child || !walk->next_sibling)
    return -ENOMEM;
  for (uint32_t i = 0; i < tree->node_count; i++) {
    walk->first_child[i] = NONE;
    walk->next_sibling[i] = NONE;
  }
  for (uint32_t i = tree->node_count; i-- > 1;) { /* backwards, so that lists end up forwards */
    uint32_t parent = tree->nodes[i].parent;
    walk->next_sibling[i] = walk->first_child[parent];
    walk->first_child[parent] = i;
  }
  return 0;
}

static void enter(struct walk *walk, uint32_t at) {
  const struct view_node *node = &walk->tree->nodes[at];
  struct view_top_row *row = &walk->rows[node->function];
  row->self_weight += node->self_weight;
  row->self_count += node->self_count;
  if (walk->open[node->function]++ > 0) return;
  walk->counts[at] = true;
  row->total_weight += node->total_weight;
  row->total_count += node->total_count;
}

static void walk_tree(struct walk *walk) {
  uint32_t at = 0;
  enter(walk, at);
  for (;;) {
    uint32_t next = walk->first_child[at];
    if (next == NONE) {
      while (at != 0 && walk->next_sibling[at] == NONE) {
        walk->open[walk->tree->nodes[at].function]--;
        at = walk->tree->nodes[at].parent;
      }
      if (at == 0) return;
      walk->open[walk->tree->nodes[at].function]--;
      next = walk->next_sibling[at];
    }
    at = next;
    enter(walk, at);
  }
}

static double share_of(const struct view_tree *tree, uint64_t weight) {
  return tree->total_weight > 0 ? (double)weight / (double)tree->total_weight : 0;
}

/* The variances of all functions' shares, summed up group by group. */
struct variances {
  double *self, *total;
};

static void add_variances(const struct walk *walk, const struct function_weights *weights,
                          double whole, double influence, struct variances *ret) {
  for (uint32_t i = 0; i < walk->tree->function_count; i++) {
    const struct view_top_row *row = &walk->rows[i];
    double self = (double)weights->self[i] / whole - share_of(walk->tree, row->self_weight);
    double total = (double)weights->total[i] / whole - share_of(walk->tree, row->total_weight);
    ret->self[i] += influence * self * self;
    ret->total[i] += influence * total * total;
  }
}

static int find_variances(const struct walk *walk, const struct ratio *ratio, struct arena *arena,
                          struct variances *ret) {
  struct function_weights weights;
  uint32_t count = walk->tree->function_count;
  ret->self = arena_array(arena, count, sizeof *ret->self);
  ret->total = arena_array(arena, count, sizeof *ret->total);
  if (ret->self == NULL || ret->total == NULL) return -ENOMEM;
  if (!ratio->is_grouped) return 0;
  int error = function_weights_init(&weights, walk->tree, walk->counts, arena);
  for (unsigned i = 0; i < ratio->count && error == 0; i++) {
    if (!(ratio->wholes[i] > 0)) continue;
    function_weights_clear(&weights);
    function_weights_add(&weights, &walk->tree->groups.group[i]);
    add_variances(walk, &weights, ratio->wholes[i], ratio->influence[i], ret);
  }
  return error;
}

/* Sets RET to TREE as a whole: what any part of its weight is a share of. */
static void whole_of(const struct view_tree *tree, struct ratio *ret) {
  const struct groups *groups = &tree->groups;
  uint64_t wholes[GROUPS_MAX];
  for (unsigned i = 0; i < groups->count; i++) wholes[i] = groups->group[i].weight;
  ratio_init(ret, groups->kind, groups->count, wholes, evidence_trials(&tree->evidence));
}

struct view_basis view_basis(const struct view_tree *tree) {
  struct ratio ratio;
  whole_of(tree, &ratio);
  return ratio_basis(&ratio);
}

/* How stacks ended; a stranger's batch may give weight to what should have none. */
static bool is_end(const struct view_tree *tree, const struct view_top_row *row, uint32_t at) {
  return tree->functions[at].end != STACK_UNTOLD && row->self_weight == 0;
}

static int heaviest_first(const void *left, const void *right) {
  const struct view_top_row *a = left, *b = right;
  if (a->self_weight != b->self_weight) return a->self_weight > b->self_weight ? -1 : 1;
  if (a->total_weight != b->total_weight) return a->total_weight > b->total_weight ? -1 : 1;
  return a->function < b->function ? -1 : a->function > b->function;
}

int view_top(const struct view_tree *tree, struct arena *arena, struct view_top_row **ret,
             uint32_t *ret_count) {
  struct walk walk = {.tree = tree};
  struct variances variances;
  struct ratio ratio;
  uint32_t count = 0;
  int error = start_walk(&walk, arena);
  if (error != 0) return error;
  walk_tree(&walk);
  whole_of(tree, &ratio);
  error = find_variances(&walk, &ratio, arena, &variances);
  if (error != 0) return error;
  for (uint32_t i = 1; i < tree->function_count; i++) { /* 0 is the root, no function */
    struct view_top_row row = walk.rows[i];
    if (is_end(tree, &row, i)) continue;
    row.function = i;
    row.self = ratio_interval(&ratio, share_of(tree, row.self_weight), variances.self[i]);
    row.total = ratio_interval(&ratio, share_of(tree, row.total_weight), variances.total[i]);
    walk.rows[count++] = row;
  }
  qsort(walk.rows, count, sizeof *walk.rows, heaviest_first);
  *ret = walk.rows;
  *ret_count = count;
  return 0;
}
