/* SPDX-License-Identifier: Apache-2.0 */
/* A difference of shares with its interval, and a verdict that does not lie.

   The interval is Newcombe's (R. G. Newcombe, "Interval estimation for the difference between
   independent proportions", Statistics in Medicine 17, 1998, method 10): the two Wilson intervals
   l..u, combined by what each end can move,

     low  = d - sqrt((b - l_b)^2 + (u_a - a)^2)      high = d + sqrt((u_b - b)^2 + (a - l_a)^2)

   The p-value is that of the two-proportion test with a pooled share.  The samples of either side
   count as what they tell (evidence.c): few when the rate was changed.

   A profile has hundreds of functions, and at one in twenty some would always seem to have changed.
   So "changed" is decided for all together (Y. Benjamini, Y. Hochberg, "Controlling the false
   discovery rate", Journal of the Royal Statistical Society B 57, 1995): the i-th smallest of m
   p-values counts when it, or a later one, is at most i/m of 5 %.

   Time that clocks told, [kernel] and [unsampled], is no share of samples: how much it varies from
   run to run nothing here says, so it is never called changed.

   A function that has no name is known by its address, and in another build that is another one's.
   Where there is more than one build of a module, such a function may be any of those that the
   other side has under their names, so nothing can be said of it; and a function with a name may
   have had as much more as there is without names in its module: the interval is that much wider on
   that side, and the p-value is that of the least difference that there can be.

   "Same" is a finding as well and needs its own evidence: an interval that lies within a percent
   point of zero.  Everything else is "unclear".  Samples are taken for independent; runs of one
   program on one machine differ by more than that, so a verdict is about these files. */
#include "diff.h"
#include "interval.h"

#include "common/arena.h"
#include "common/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double same_within = 0.01;
static const double false_share = 0.05; /* of those called changed */

/* Of a module with functions that are apart: what they hold, and what all of it does. */
struct nameless {
  const char *module;
  uint64_t a_weight, b_weight;
  uint64_t a_all, b_all;
};

struct diff {
  struct view_diff_row *rows;
  struct nameless *nameless; /* of each module that has any */
  uint32_t count, nameless_count;
  struct table by_name, by_module;
};

static struct view_diff_row *row_of(struct diff *diff, const struct view_function *function) {
  uint64_t hash = table_hash(function->name, strlen(function->name), 0);
  hash = table_hash(function->module, strlen(function->module), hash);
  uint32_t cursor, at = table_find(&diff->by_name, hash, &cursor);
  for (; at != TABLE_NONE; at = table_next(&diff->by_name, hash, &cursor))
    if (strcmp(diff->rows[at].name, function->name) == 0 &&
        strcmp(diff->rows[at].module, function->module) == 0)
      return &diff->rows[at];
  if (table_add(&diff->by_name, hash, diff->count) != 0) return NULL;
  diff->rows[diff->count] =
      (struct view_diff_row){.name = function->name, .module = function->module};
  diff->rows[diff->count].is_apart = function->is_apart;
  return &diff->rows[diff->count++];
}

/* Adds what the functions of TREE hold themselves; B: to the second side. */
static int add_tree(struct diff *diff, const struct view_tree *tree, bool is_b) {
  for (uint32_t i = 1; i < tree->node_count; i++) {
    uint64_t weight = tree->nodes[i].self_weight;
    if (weight == 0) continue;
    struct view_diff_row *row = row_of(diff, &tree->functions[tree->nodes[i].function]);
    if (row == NULL) return -ENOMEM;
    *(is_b ? &row->b_weight : &row->a_weight) += weight;
  }
  return 0;
}

static struct nameless *nameless_of(const struct diff *diff, const char *module) {
  uint64_t hash = table_hash(module, strlen(module), 0);
  uint32_t cursor, at = table_find(&diff->by_module, hash, &cursor);
  while (at != TABLE_NONE && strcmp(diff->nameless[at].module, module) != 0)
    at = table_next(&diff->by_module, hash, &cursor);
  return at != TABLE_NONE ? &diff->nameless[at] : NULL;
}

/* Sums up what is apart by module. */
static int sum_nameless(struct diff *diff) {
  for (uint32_t i = 0; i < diff->count; i++) {
    const struct view_diff_row *row = &diff->rows[i];
    if (!row->is_apart) continue;
    struct nameless *nameless = nameless_of(diff, row->module);
    if (nameless == NULL) {
      uint64_t hash = table_hash(row->module, strlen(row->module), 0);
      if (table_add(&diff->by_module, hash, diff->nameless_count) != 0) return -ENOMEM;
      nameless = &diff->nameless[diff->nameless_count++];
      *nameless = (struct nameless){.module = row->module};
    }
    nameless->a_weight += row->a_weight;
    nameless->b_weight += row->b_weight;
  }
  for (uint32_t i = 0; i < diff->count && diff->nameless_count > 0; i++) {
    struct nameless *nameless = nameless_of(diff, diff->rows[i].module);
    if (nameless == NULL) continue;
    nameless->a_all += diff->rows[i].a_weight;
    nameless->b_all += diff->rows[i].b_weight;
  }
  return 0;
}

static bool is_of_clocks(const struct view_diff_row *row) {
  return strcmp(row->name, row->module) == 0 &&
         (strcmp(row->name, "[kernel]") == 0 || strcmp(row->name, "[unsampled]") == 0);
}

static double share_of(uint64_t weight, const struct view_tree *tree) {
  return tree->total_weight > 0 ? (double)weight / (double)tree->total_weight : 0;
}

/* Two-sided, of no difference between shares A of N and B of M trials. */
static double p_of(double a, double n, double b, double m) {
  if (!(n > 0) || !(m > 0)) return 1;
  double pooled = (a * n + b * m) / (n + m);
  double error = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
  return error > 0 ? erfc(fabs(b - a) / error / sqrt(2)) : 1;
}

static bool is_tested(const struct view_diff_row *row) {
  return !row->is_apart && !is_of_clocks(row);
}

/* What ROW may have had more than it shows, on either side. */
struct more {
  double a, b;
};

static struct more more_of(const struct diff *diff, const struct view_diff_row *row,
                           const struct view_tree *a, const struct view_tree *b) {
  const struct nameless *nameless = nameless_of(diff, row->module);
  if (nameless == NULL) return (struct more){0, 0};
  if (!row->is_apart)
    return (struct more){share_of(nameless->a_weight, a), share_of(nameless->b_weight, b)};
  return (struct more){row->a_weight > 0 ? 0 : share_of(nameless->a_all, a),
                       row->b_weight > 0 ? 0 : share_of(nameless->b_all, b)};
}

static void compare(const struct diff *diff, struct view_diff_row *row, const struct view_tree *a,
                    const struct view_tree *b) {
  double n = evidence_trials(&a->evidence), m = evidence_trials(&b->evidence);
  const struct more more = more_of(diff, row, a, b);
  row->a = share_of(row->a_weight, a);
  row->b = share_of(row->b_weight, b);
  struct view_share wilson_a = interval_wilson(row->a, n);
  struct view_share wilson_b = interval_wilson(row->b, m);
  row->difference = row->b - row->a;
  row->low = row->difference - hypot(row->b - wilson_b.low, wilson_a.high - row->a);
  row->high = row->difference + hypot(wilson_b.high - row->b, row->a - wilson_a.low);
  row->low = fmax(row->low - more.a, -1);
  row->high = fmin(row->high + more.b, 1);
  double least_a = row->a < row->b ? fmin(row->a + more.a, row->b) : row->a;
  double least_b = row->b < row->a ? fmin(row->b + more.b, row->a) : row->b;
  row->p = is_tested(row) ? p_of(least_a, n, least_b, m) : 1;
  bool is_same = row->low > -same_within && row->high < same_within;
  row->verdict = is_same && !row->is_apart ? VIEW_SAME : VIEW_UNCLEAR;
}

static enum view_doubt doubt_of(const struct view_diff_row *row) {
  if (row->is_apart) return VIEW_APART;
  if (row->verdict != VIEW_UNCLEAR || (row->low <= 0 && row->high >= 0)) return VIEW_NO_DOUBT;
  return is_of_clocks(row) ? VIEW_CLOCKS : VIEW_MANY;
}

static int surest_first(const void *left, const void *right) {
  const struct view_diff_row *a = left, *b = right;
  return a->p < b->p ? -1 : a->p > b->p;
}

static int largest_first(const void *left, const void *right) {
  const struct view_diff_row *a = left, *b = right;
  double one = fabs(a->difference), other = fabs(b->difference);
  if (one != other) return one > other ? -1 : 1;
  int by_name = strcmp(a->name, b->name);
  return by_name != 0 ? by_name : strcmp(a->module, b->module);
}

uint32_t view_diff_tested(const struct view_diff_row *rows, uint32_t count) {
  uint32_t tested = 0;
  for (uint32_t i = 0; i < count; i++) tested += is_tested(&rows[i]);
  return tested;
}

/* Benjamini and Hochberg's step. */
static void judge(struct diff *diff) {
  uint32_t changed = 0, tested = view_diff_tested(diff->rows, diff->count);
  qsort(diff->rows, diff->count, sizeof *diff->rows, surest_first);
  for (uint32_t i = 0; i < tested; i++)
    if (diff->rows[i].p <= false_share * (i + 1) / tested) changed = i + 1;
  for (uint32_t i = 0; i < changed; i++) diff->rows[i].verdict = VIEW_CHANGED;
  for (uint32_t i = 0; i < diff->count; i++) diff->rows[i].doubt = doubt_of(&diff->rows[i]);
}

int view_diff(const struct view_tree *a, const struct view_tree *b, struct arena *arena,
              struct view_diff_row **ret, uint32_t *ret_count) {
  struct diff diff = {.count = 0};
  size_t room = (size_t)a->function_count + b->function_count;
  diff.rows = arena_array(arena, room, sizeof *diff.rows);
  diff.nameless = arena_array(arena, room, sizeof *diff.nameless);
  int error = diff.rows == NULL || diff.nameless == NULL ? -ENOMEM : 0;
  if (error == 0) error = add_tree(&diff, a, false);
  if (error == 0) error = add_tree(&diff, b, true);
  if (error == 0) error = sum_nameless(&diff);
  for (uint32_t i = 0; i < diff.count && error == 0; i++) compare(&diff, &diff.rows[i], a, b);
  table_fini(&diff.by_name);
  table_fini(&diff.by_module);
  if (error != 0) return error;
  judge(&diff);
  qsort(diff.rows, diff.count, sizeof *diff.rows, largest_first);
  *ret = diff.rows;
  *ret_count = diff.count;
  return 0;
}

const char *view_verdict_name(enum view_verdict verdict) {
  static const char *const names[] = {"changed", "same", "unclear"};
  return names[verdict];
}
