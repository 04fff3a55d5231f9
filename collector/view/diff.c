/* SPDX-License-Identifier: Apache-2.0 */
/* A difference of shares with its interval, and a verdict that does not lie.

   The interval is Newcombe's (R. G. Newcombe, "Interval estimation for the difference between
   independent proportions", Statistics in Medicine 17, 1998, method 10): the two Wilson intervals
   l..u, combined by what each end can move,

     low  = d - sqrt((b - l_b)^2 + (u_a - a)^2)      high = d + sqrt((u_b - b)^2 + (a - l_a)^2)

   The p-value is that of the two-proportion test with a pooled share.  The samples of either side
   count as what they tell (evidence.c): few when the rate was changed.

   Boards, and stretches of one board's time, differ by more than samples do: where there are
   several the difference has an error that is seen in them (contrast.c), a t interval and a t test.
   The wider interval counts and the larger p: something changed when neither the luck of sampling
   nor what boards are like explains it.

   A profile has hundreds of functions, and at one in twenty some would always seem to have changed.
   So "changed" is decided for all together (Y. Benjamini, Y. Hochberg, "Controlling the false
   discovery rate", Journal of the Royal Statistical Society B 57, 1995): the i-th smallest of m
   p-values counts when it, or a later one, is at most i/m of 5 %.

   Time that clocks told, [kernel] and [unsampled], is no share of samples: how much it varies from
   run to run only several boards show, and without them it is never called changed.

   A function that has no name is known by its address, and in another build that is another one's.
   Where there is more than one build of a module, such a function may be any of those that the
   other side has under their names, so nothing can be said of it; and a function with a name may
   have had as much more as there is without names in its module: the interval is that much wider on
   that side, and the p-value is that of the least difference that there can be.

   Debug information tells inlined functions apart and calls what the compiler has cloned as the
   source does; a symbol table has the time of all that was inlined under the caller's name, and
   clones under names of their own.  Where more of a module is named by debug information on one
   side than on the other, a function may have had as much more or less as that is: it is added to
   the interval on both sides.  Functions that both sides name alike are no sign of that: their
   shares change with the load.

   "Same" is a finding as well and needs its own evidence: an interval that lies within a percent
   point of zero.  Everything else is "unclear".  Where there are no groups samples are taken for
   independent; runs of one program on one machine differ by more than that, so a verdict is about
   these files. */
#include "diff.h"

#include "contrast.h"
#include "diff_rows.h"
#include "interval.h"
#include "student.h"

#include "common/arena.h"
#include "common/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double same_within = 0.01;
static const double false_share = 0.05; /* of those called changed */

/* Of a module: all that it does, and what of it has a name that the sides do not have alike, or has
   none and is apart. */
struct part {
  const char *module;
  uint64_t a_weight, b_weight;
  uint64_t a_apart, b_apart;
  struct view_named a_named, b_named;
};

struct diff {
  struct diff_rows rows;
  struct part *parts; /* of each module */
  uint32_t part_count;
  struct table by_module;
  struct contrast contrast;
};

static struct part *part_of(const struct diff *diff, const char *module) {
  uint64_t hash = table_hash(module, strlen(module), diff->rows.names.seed);
  uint32_t cursor, at = table_find(&diff->by_module, hash, &cursor);
  while (at != TABLE_NONE && strcmp(diff->parts[at].module, module) != 0)
    at = table_next(&diff->by_module, hash, &cursor);
  return at != TABLE_NONE ? &diff->parts[at] : NULL;
}

static int add_part(struct diff *diff, const char *module, struct part **ret) {
  uint64_t hash = table_hash(module, strlen(module), diff->rows.names.seed);
  if (table_add(&diff->by_module, hash, diff->part_count) != 0) return -ENOMEM;
  *ret = &diff->parts[diff->part_count++];
  **ret = (struct part){.module = module};
  return 0;
}

static void add_named(struct view_named *sum, const struct view_named *named) {
  sum->by_debug += named->by_debug;
  sum->by_others += named->by_others;
}

/* How much of what has a name has it of debug information; -1: nothing has one. */
static double debug_share(const struct view_named *named) {
  double all = (double)named->by_debug + (double)named->by_others;
  return all > 0 ? (double)named->by_debug / all : -1;
}

static bool is_named_alike(const struct view_diff_row *row) {
  double a = debug_share(&row->a_named), b = debug_share(&row->b_named);
  return a >= 0 && b >= 0 && fabs(a - b) <= same_within;
}

/* Sums the rows up by module. */
static int sum_parts(struct diff *diff) {
  int error = 0;
  for (uint32_t i = 0; i < diff->rows.count && error == 0; i++) {
    const struct view_diff_row *row = &diff->rows.rows[i];
    struct part *part = part_of(diff, row->module);
    if (part == NULL) error = add_part(diff, row->module, &part);
    if (error != 0) break;
    part->a_weight += row->a_weight;
    part->b_weight += row->b_weight;
    part->a_apart += row->is_apart ? row->a_weight : 0;
    part->b_apart += row->is_apart ? row->b_weight : 0;
    if (is_named_alike(row)) continue;
    add_named(&part->a_named, &row->a_named);
    add_named(&part->b_named, &row->b_named);
  }
  return error;
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

/* Clocks that several boards read are compared as anything else is. */
static bool can_be_tested(const struct diff *diff, const struct view_diff_row *row) {
  return !row->is_apart && (!is_of_clocks(row) || contrast_is_of_boards(&diff->contrast));
}

/* What names of unlike sources may have moved between the functions of PART. */
static double unlike_of(const struct diff *diff, const struct part *part) {
  const struct view_named *of_a = &part->a_named, *of_b = &part->b_named;
  double a = debug_share(of_a), b = debug_share(of_b);
  if (a < 0 || b < 0) return 0;
  return fabs(a - b) * fmax(share_of(of_a->by_debug + of_a->by_others, diff->contrast.a.tree),
                            share_of(of_b->by_debug + of_b->by_others, diff->contrast.b.tree));
}

/* What ROW may have had more than it shows, on either side. */
struct more {
  double a, b;
};

static struct more more_of(const struct diff *diff, const struct view_diff_row *row,
                           double unlike) {
  const struct view_tree *a = diff->contrast.a.tree, *b = diff->contrast.b.tree;
  const struct part *part = part_of(diff, row->module);
  if (part->a_apart + part->b_apart == 0) return (struct more){unlike, unlike};
  if (!row->is_apart)
    return (struct more){share_of(part->a_apart, a) + unlike, share_of(part->b_apart, b) + unlike};
  return (struct more){row->a_weight > 0 ? 0 : share_of(part->a_weight, a),
                       row->b_weight > 0 ? 0 : share_of(part->b_weight, b)};
}

/* Sets the interval of ROW's difference: what samples and what groups allow, both. */
static void set_interval(const struct diff *diff, struct view_diff_row *row,
                         const struct contrast_error *error) {
  const struct ratio *of_a = &diff->contrast.a.ratio, *of_b = &diff->contrast.b.ratio;
  struct view_share wilson_a = interval_wilson(row->a, of_a->trials);
  struct view_share wilson_b = interval_wilson(row->b, of_b->trials);
  double groups = error->variance > 0 ? student_quantile(error->df) * sqrt(error->variance) : 0;
  row->low = row->difference - fmax(hypot(row->b - wilson_b.low, wilson_a.high - row->a), groups);
  row->high = row->difference + fmax(hypot(wilson_b.high - row->b, row->a - wilson_a.low), groups);
}

/* The chance of what lies between the shares A and B: by samples and by groups, the larger one. */
static double p_of_both(const struct diff *diff, double a, double b,
                        const struct contrast_error *error) {
  double p = p_of(a, diff->contrast.a.ratio.trials, b, diff->contrast.b.ratio.trials);
  if (!(error->variance > 0)) return p;
  return fmax(p, student_p((b - a) / sqrt(error->variance), error->df));
}

static void compare(const struct diff *diff, struct view_diff_row *row,
                    const struct contrast_spread *spread) {
  double unlike = unlike_of(diff, part_of(diff, row->module));
  const struct more more = more_of(diff, row, unlike);
  row->is_unlike = unlike > same_within;
  struct contrast_error error = contrast_error(&diff->contrast, row->a, row->b, spread);
  row->difference = row->b - row->a;
  set_interval(diff, row, &error);
  row->low = fmax(row->low - more.a, -1);
  row->high = fmin(row->high + more.b, 1);
  double least_a = row->a < row->b ? fmin(row->a + more.a, row->b) : row->a;
  double least_b = row->b < row->a ? fmin(row->b + more.b, row->a) : row->b;
  row->is_tested = can_be_tested(diff, row);
  row->p_alone = row->is_tested ? p_of_both(diff, least_a, least_b, &error) : 1;
  row->p = 1;
  bool is_same = row->low > -same_within && row->high < same_within;
  row->verdict = is_same && !row->is_apart ? VIEW_SAME : VIEW_UNCLEAR;
}

static int compare_all(struct diff *diff, struct arena *arena) {
  struct diff_rows *rows = &diff->rows;
  struct contrast_spread *spread = arena_array(arena, rows->count, sizeof *spread);
  if (spread == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < rows->count; i++) {
    rows->rows[i].a = share_of(rows->rows[i].a_weight, diff->contrast.a.tree);
    rows->rows[i].b = share_of(rows->rows[i].b_weight, diff->contrast.b.tree);
  }
  int error = diff_rows_spread(rows, &diff->contrast, arena, spread);
  for (uint32_t i = 0; i < rows->count && error == 0; i++)
    compare(diff, &rows->rows[i], &spread[i]);
  return error;
}

static enum view_doubt doubt_of(const struct view_diff_row *row) {
  if (row->is_apart) return VIEW_APART;
  if (row->verdict == VIEW_UNCLEAR && row->is_unlike) return VIEW_UNLIKE;
  if (row->verdict != VIEW_UNCLEAR || (row->low <= 0 && row->high >= 0)) return VIEW_NO_DOUBT;
  return row->is_tested ? VIEW_MANY : VIEW_CLOCKS;
}

/* Those that are not tested come last. */
static int surest_first(const void *left, const void *right) {
  const struct view_diff_row *a = left, *b = right;
  if (a->is_tested != b->is_tested) return a->is_tested ? -1 : 1;
  return a->p_alone < b->p_alone ? -1 : a->p_alone > b->p_alone;
}

static int largest_first(const void *left, const void *right) {
  const struct view_diff_row *a = left, *b = right;
  double one = fabs(a->difference), other = fabs(b->difference);
  if (one != other) return one > other ? -1 : 1;
  int by_name = strcmp(a->name, b->name);
  if (by_name == 0) by_name = strcmp(a->module, b->module);
  return by_name != 0 || !a->file || !b->file ? by_name : strcmp(a->file, b->file);
}

uint32_t view_diff_tested(const struct view_diff_row *rows, uint32_t count) {
  uint32_t tested = 0;
  for (uint32_t i = 0; i < count; i++) tested += rows[i].is_tested;
  return tested;
}

/* Benjamini and Hochberg's step, told as p-values: the i-th smallest of m stands for as much as
   m / i of it, and for no more than those after it do. */
static void judge(struct diff_rows *diff) {
  uint32_t tested = view_diff_tested(diff->rows, diff->count);
  double least = 1;
  qsort(diff->rows, diff->count, sizeof *diff->rows, surest_first);
  for (uint32_t i = tested; i-- > 0;) {
    struct view_diff_row *row = &diff->rows[i];
    least = fmin(least, row->p_alone * tested / (i + 1));
    row->p = least;
    if (row->p <= false_share) row->verdict = VIEW_CHANGED;
  }
  for (uint32_t i = 0; i < diff->count; i++) diff->rows[i].doubt = doubt_of(&diff->rows[i]);
}

void view_diff_basis(const struct view_tree *a, const struct view_tree *b,
                     struct view_diff_basis *ret) {
  struct contrast contrast;
  contrast_init(&contrast, a, b);
  *ret = (struct view_diff_basis){.a = ratio_basis(&contrast.a.ratio),
                                  .b = ratio_basis(&contrast.b.ratio),
                                  .pairs = contrast.pairs};
}

int view_diff(const struct view_tree *a, const struct view_tree *b, struct arena *arena,
              struct view_diff_row **ret, uint32_t *ret_count) {
  struct diff diff = {.part_count = 0};
  int error = diff_rows_init(&diff.rows, a, b, arena);
  diff.parts = arena_array(arena, (size_t)diff.rows.count + 1, sizeof *diff.parts);
  if (diff.parts == NULL) error = -ENOMEM;
  contrast_init(&diff.contrast, a, b);
  if (error == 0) error = sum_parts(&diff);
  if (error == 0) error = compare_all(&diff, arena);
  diff_rows_fini(&diff.rows);
  table_fini(&diff.by_module);
  if (error != 0) return error;
  judge(&diff.rows);
  qsort(diff.rows.rows, diff.rows.count, sizeof *diff.rows.rows, largest_first);
  *ret = diff.rows.rows;
  *ret_count = diff.rows.count;
  return 0;
}

const char *view_verdict_name(enum view_verdict verdict) {
  static const char *const names[] = {"changed", "same", "unclear"};
  return names[verdict];
}

const char *view_doubt_name(enum view_doubt doubt) {
  static const char *const names[] = {"", "clocks", "apart", "many", "unlike"};
  return names[doubt];
}
