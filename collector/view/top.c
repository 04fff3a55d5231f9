/* SPDX-License-Identifier: Apache-2.0 */
/* The function table.

   Self is the weight of a function's own nodes. Total is the weight that passes through it, each
   stack once: in main -> walk -> walk -> walk the outer walk already counts the inner two. So a
   node adds its total only if no node above it has the same function.

   Shares are of weight. Their intervals come from the differences between the groups of the tree
   (ratio.c), with one pass over each group's nodes. They are never narrower than the effective
   samples allow (evidence.c): with a constant rate, exactly the number of samples. Time of
   clocks is weight, but no evidence of where it was spent, and so not samples.

   That weight may belong to any function, so upper ends rise by it:

     self    by [unsampled], and by samples without a place ([unknown], [others])
     total   by these, by [kernel] without samples (any function may have called the kernel), and
             by the short stacks that the function is not in: it may have called their outermost

   Kernel time is in no function's self, whichever function called it. */
#include "view.h"

#include "common/arena.h"
#include "common/cutoff.h"
#include "function_weights.h"
#include "pseudo_hints.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct walk {
  const struct view_tree *tree;
  struct view_top_row *rows; /* one for each function */
  bool *counts;              /* per node: no node above it has its function */
  wide_sum *short_weights;   /* per function: weight of the short stacks that it is in */
};

/* Sums the functions' weights. */
static int sum_up(struct walk *walk, struct arena *arena) {
  const struct view_tree *tree = walk->tree;
  uint32_t *class_of = arena_array(arena, tree->function_count, sizeof *class_of);
  bool *is_short = arena_array(arena, tree->node_count, sizeof *is_short);
  walk->rows = arena_array(arena, tree->function_count, sizeof *walk->rows);
  walk->counts = arena_array(arena, tree->node_count, sizeof *walk->counts);
  walk->short_weights = arena_array(arena, tree->function_count, sizeof *walk->short_weights);
  if (!class_of || !is_short || !walk->rows || !walk->counts || !walk->short_weights)
    return -ENOMEM;
  for (uint32_t i = 0; i < tree->function_count; i++) class_of[i] = i;
  int error = function_weights_outermost(tree, class_of, tree->function_count, arena, walk->counts);
  for (uint32_t i = 1; i < tree->node_count && error == 0; i++) {
    const struct view_node *node = &tree->nodes[i];
    struct view_top_row *row = &walk->rows[node->function];
    is_short[i] = is_short[node->parent] || tree->functions[node->function].end != STACK_UNTOLD;
    row->self_weight += node->self_weight;
    row->self_count = sum_of(row->self_count, node->self_count);
    if (!walk->counts[i]) continue;
    row->total_weight += node->total_weight;
    row->total_count = sum_of(row->total_count, node->total_count);
    if (is_short[i]) walk->short_weights[node->function] += node->total_weight;
  }
  return error;
}

static double share_of(const struct view_tree *tree, wide_sum weight) {
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

/* Whether NAME is a pseudo-function that may have time of clocks, which is not in the strata. */
static bool may_be_told(const char *name) {
  return strcmp(name, PSEUDO_KERNEL) == 0 || pseudo_is_placeless(name);
}

/* Like the function above, for strata. */
static int find_strata(const struct walk *walk, const struct strata *strata,
                       struct function_weights *weights, struct arena *arena,
                       struct variances *ret) {
  uint32_t count = walk->tree->function_count;
  double *self = arena_array(arena, count, sizeof *self); /* of the previous stratum */
  double *total = arena_array(arena, count, sizeof *total);
  if (self == NULL || total == NULL) return -ENOMEM;
  for (unsigned at = 0; at < strata->count; at++) {
    if (cutoff_is_past(walk->tree->cutoff)) return -ETIMEDOUT;
    function_weights_clear(weights);
    for (unsigned i = strata->first[at]; i < strata->first[at + 1]; i++)
      function_weights_add(weights, &walk->tree->groups.group[strata->group[i]]);
    for (uint32_t i = 0; i < count; i++) {
      if (weights->total[i] == 0 && !(total[i] > 0)) continue; /* most: the total has the self */
      double own = strata_fraction(strata, at, weights->self[i]);
      double through = strata_fraction(strata, at, weights->total[i]);
      ret->self[i] += strata_variance(strata, at, self[i], own);
      ret->total[i] += strata_variance(strata, at, total[i], through);
      self[i] = own, total[i] = through;
    }
  }
  for (uint32_t i = 0; i < count; i++)
    if (may_be_told(walk->tree->functions[i].name)) ret->self[i] = ret->total[i] = 0;
  return 0;
}

static int find_variances(const struct walk *walk, const struct ratio *ratio, struct arena *arena,
                          struct variances *ret) {
  struct function_weights weights;
  uint32_t count = walk->tree->function_count;
  ret->self = arena_array(arena, count, sizeof *ret->self);
  ret->total = arena_array(arena, count, sizeof *ret->total);
  if (ret->self == NULL || ret->total == NULL) return -ENOMEM;
  if (!ratio->is_grouped && ratio->strata.count < 2) return 0;
  int error = function_weights_init(&weights, walk->tree, walk->counts, arena);
  if (error == 0 && !ratio->is_grouped)
    return find_strata(walk, &ratio->strata, &weights, arena, ret);
  for (unsigned i = 0; i < ratio->count && error == 0; i++) {
    if (!(ratio->wholes[i] > 0)) continue;
    if (cutoff_is_past(walk->tree->cutoff)) return -ETIMEDOUT;
    function_weights_clear(&weights);
    function_weights_add(&weights, &walk->tree->groups.group[i]);
    add_variances(walk, &weights, ratio->wholes[i], ratio->influence[i], ret);
  }
  return error;
}

/* The function of TREE for weight without a place; 0: there is none. */
static uint32_t find_pseudo(const struct view_tree *tree, const char *name) {
  for (uint32_t i = 1; i < tree->function_count; i++)
    if (tree->functions[i].name[0] == '[' && strcmp(tree->functions[i].name, name) == 0) return i;
  return 0;
}

static wide_sum self_weight_of(const struct view_tree *tree, uint32_t function) {
  wide_sum weight = 0;
  for (uint32_t i = 1; i < tree->node_count && function > 0; i++)
    if (tree->nodes[i].function == function) weight += tree->nodes[i].self_weight;
  return weight;
}

/* Sets RET to TREE as a whole, of which every weight is a share. */
static void whole_of(const struct view_tree *tree, struct ratio *ret) {
  const struct ratio_whole whole = {.groups = &tree->groups,
                                    .weight = tree->total_weight,
                                    .unsampled =
                                        self_weight_of(tree, find_pseudo(tree, PSEUDO_UNSAMPLED)),
                                    .evidence = &tree->evidence};
  ratio_init_whole(ret, &whole);
}

struct view_basis view_basis(const struct view_tree *tree) {
  struct ratio ratio;
  whole_of(tree, &ratio);
  return ratio_basis(&ratio);
}

/* Shares that may belong to any function: upper bounds. */
struct hidden {
  uint32_t kernel;          /* the function [kernel]; 0: the tree has none */
  double in_self, in_total; /* in_total: without short stacks */
  double short_stacks;
};

static double reach_of(const struct walk *walk, const struct ratio *ratio, wide_sum weight,
                       double variance) {
  return weight > 0 ? ratio_reach(ratio, share_of(walk->tree, weight), variance) : 0;
}

static void find_hidden(const struct walk *walk, const struct ratio *ratio,
                        const struct variances *variances, struct hidden *ret) {
  const struct view_tree *tree = walk->tree;
  wide_sum kernel = pseudo_kernel_weight(tree);
  *ret = (struct hidden){.kernel = find_pseudo(tree, PSEUDO_KERNEL)};
  for (uint32_t i = 1; i < tree->function_count; i++) {
    const struct view_top_row *row = &walk->rows[i];
    if (tree->functions[i].end != STACK_UNTOLD)
      ret->short_stacks += reach_of(walk, ratio, row->total_weight, variances->total[i]);
    if (!pseudo_is_placeless(tree->functions[i].name)) continue;
    ret->in_self += reach_of(walk, ratio, row->self_weight, variances->self[i]);
  }
  ret->in_total = ret->in_self;
  if (kernel > 0) ret->in_total += reach_of(walk, ratio, kernel, variances->self[ret->kernel]);
}

/* Sets the shares of ROW, of the function AT. */
static void set_shares(const struct walk *walk, const struct ratio *ratio,
                       const struct variances *variances, const struct hidden *hidden, uint32_t at,
                       struct view_top_row *row) {
  double self = share_of(walk->tree, row->self_weight);
  double total = share_of(walk->tree, row->total_weight);
  double in_short = share_of(walk->tree, walk->short_weights[at]);
  bool is_placeless = pseudo_is_placeless(walk->tree->functions[at].name);
  if (is_placeless && row->self_count == 0) {
    row->self = row->total = ratio_told(ratio, self, variances->self[at]);
    return;
  }
  row->self = ratio_interval(ratio, self, variances->self[at]);
  row->total = ratio_interval(ratio, total, variances->total[at]);
  row->lack = self > 0 ? ratio_lack(ratio, self, variances->self[at])
                       : ratio_lack(ratio, total, variances->total[at]);
  if (is_placeless || at == hidden->kernel) return;
  ratio_raise(&row->self, hidden->in_self);
  ratio_raise(&row->total, hidden->in_total + fmax(hidden->short_stacks - in_short, 0));
}

/* Whether ROW stands for how stacks ended. A hostile board's batch may give weight to a row that
   should have none. */
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
  struct hidden hidden;
  struct ratio ratio;
  uint32_t count = 0;
  int error = sum_up(&walk, arena);
  if (error != 0) return error;
  whole_of(tree, &ratio);
  error = find_variances(&walk, &ratio, arena, &variances);
  if (error != 0) return error;
  find_hidden(&walk, &ratio, &variances, &hidden);
  for (uint32_t i = 1; i < tree->function_count; i++) { /* 0 is the root, no function */
    if (cutoff_is_at(tree->cutoff, i)) return -ETIMEDOUT;
    struct view_top_row row = walk.rows[i];
    if (is_end(tree, &row, i)) continue;
    row.function = i;
    set_shares(&walk, &ratio, &variances, &hidden, i, &row);
    walk.rows[count++] = row;
  }
  if (cutoff_is_past(tree->cutoff)) return -ETIMEDOUT;
  qsort(walk.rows, count, sizeof *walk.rows, heaviest_first);
  *ret = walk.rows;
  *ret_count = count;
  return 0;
}
