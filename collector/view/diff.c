/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two profiles function by function, with intervals and verdicts.

   A function is compared three times: its self share, its total share, and its CPU time per unit
   (a run, a board-hour) as a part of all CPU time that side a takes per unit. Shares add up to
   1, so when one function takes more the shares of others fall; CPU time shows which one
   changed.

   The interval is Newcombe's (R. G. Newcombe, "Interval estimation for the difference between
   independent proportions", Statistics in Medicine 17, 1998, method 10). It combines the two
   Wilson intervals l..u:

     low  = d - sqrt((b - l_b)^2 + (u_a - a)^2)      high = d + sqrt((u_b - b)^2 + (a - l_a)^2)

   The p-value is that of the two-proportion test with a pooled share. The number of samples is
   the effective one (evidence.c). Sampling units differ by more than samples do: contrast.c
   estimates that error from the units, for a t interval and a t test. The wider interval and the
   larger p count: a change is reported only if neither sampling nor the spread of units explains
   it. With too few units there is no test, and the verdict is unclear.

   A profile has hundreds of functions; at a level of one in twenty some would always seem to
   have changed. So "changed" is decided for all of them together (Y. Benjamini, Y. Hochberg,
   "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57, 1995):
   the i-th smallest of m p-values counts if it, or a later one, is at most i/m of 5 %.

   A side may have had more of a function than it shows. That widens the interval, and the
   p-value is that of the least possible difference:

     [unsampled]       may be any function
     [kernel] by a clock, and stacks that were cut (no table, truncated)
                       may have been called by any function: totals
     a function without a name of one of several builds
                       may be any of the functions that the other side has with a name
     names of debug information on one side and of a symbol table on the other
                       move time between a function and the functions inlined in it
     a few runs a side runs of one program differ in speed

   Time measured by clocks, [kernel] and [unsampled], is no share of samples. Only several boards
   show how much it varies; without them it is never called changed.

   "Same" needs its own evidence: an interval within a percent point of zero. Everything else is
   "unclear". */
#include "diff.h"

#include "contrast.h"
#include "diff_moves.h"
#include "diff_rows.h"
#include "interval.h"
#include "pseudo_hints.h"
#include "student.h"

#include "common/arena.h"
#include "common/cutoff.h"
#include "common/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double same_within = 0.01;
static const double false_share = 0.05; /* of the changes called changed */
static const double miss = 0.20;        /* of changes called detectable */
static const double growth_max = 2;     /* largest growth of a share that detectable_of assumes */

/* How much two runs of one program may differ in CPU time, as a factor less 1: fixed work took 0.77
   to 0.85 s in 14 runs on a virtual machine that others use, too.  Means of several differ less. */
static const double run_to_run = 0.10;
static const double run_least_ns = 5e8; /* shorter runs differ by more */

/* Sums of a module: all of it, the parts that are apart, and the parts named differently on the
   two sides. */
struct part {
  const char *module;
  wide_sum a_weight, b_weight;
  wide_sum a_apart, b_apart;
  struct view_named a_named, b_named;
};

/* Shares of a tree that may belong to any function. */
struct hidden {
  double unsampled, kernel, cut;
};

struct diff {
  const struct view_diff_options *options;
  struct diff_rows rows;
  struct part *parts; /* of each module */
  uint32_t part_count;
  struct table by_module;
  struct contrast contrast;
  struct hidden a, b;
  wide_sum *beneath[2]; /* of each row and side: differently named time in the stacks that the
                           row is in */
  bool is_short;        /* too few units for any test */
  uint32_t tested[VIEW_OF_COUNT];
};

/* The number of runs of each side. */
struct runs {
  double a, b;
};

/* One comparison: the shares, and their uncertainty besides sampling. */
struct question {
  double a, b, scale; /* difference: scale * b - a */
  double more_a, more_b, either;
  bool is_short; /* too few units */
  bool has_premise;
  double unlike; /* part of MORE_A and MORE_B: moved by names from different sources */
  struct contrast_error error;
  uint32_t tested; /* number of changes tested together with it */
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

/* Share of the named time whose names are from debug information; -1: no time has a name. */
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

static double share_of(wide_sum weight, const struct view_tree *tree) {
  return tree->total_weight > 0 ? (double)weight / (double)tree->total_weight : 0;
}

static bool has_self(const struct view_diff_row *row) {
  return row->a_weight > 0 || row->b_weight > 0;
}

/* The variance, from sampling, of scale * b - a if the true share of both is SHARE. */
static double samples_variance(const struct diff *diff, double scale, double share) {
  double n = diff->contrast.a.ratio.trials, m = diff->contrast.b.ratio.trials;
  if (!(n > 0) || !(m > 0)) return INFINITY;
  share = fmin(share, fmin(scale, 1));
  return share * (1 - share) / n + share * (scale - share) / m;
}

/* The common share of A and B under the hypothesis that they are the same. */
static double pooled(const struct diff *diff, double scale, double a, double b) {
  double n = diff->contrast.a.ratio.trials, m = diff->contrast.b.ratio.trials / scale;
  return n + m > 0 ? (a * n + b * m) / (n + m) : 0;
}

/* Whether row AT has too few units for a test. Phases that move its share by less than "same"
   allows are ignored. */
static bool is_short(const struct diff *diff, uint32_t at, enum view_of of) {
  const struct view_diff_row *row = &diff->rows.rows[at];
  const struct view_change *change = of == VIEW_SELF ? &row->self : &row->total;
  double by_samples = samples_variance(diff, 1, pooled(diff, 1, change->a, change->b));
  double harmless = fmax(by_samples, pow(same_within / student_quantile(INFINITY), 2));
  double independent =
      contrast_independent_of(&diff->contrast, &diff->rows.spreads[of][at], harmless);
  return diff->is_short || independent < CONTRAST_INDEPENDENT_MIN;
}

/* Time by clocks can be tested only if several boards measured it. */
static bool has_premise(const struct diff *diff, uint32_t at, enum view_of of) {
  const struct view_diff_row *row = &diff->rows.rows[at];
  if (row->is_apart || is_short(diff, at, of)) return false;
  return !is_of_clocks(row) || contrast_is_of_boards(&diff->contrast);
}

static bool can_be_tested(const struct diff *diff, uint32_t at, enum view_of of) {
  return has_premise(diff, at, of) && (of == VIEW_TOTAL || has_self(&diff->rows.rows[at]));
}

/* Time that names from different sources may have moved between the functions of PART, into row
   AT or out of it. A total already includes everything below the function, under any name. */
static double unlike_of(const struct diff *diff, const struct part *part, uint32_t at,
                        enum view_of of) {
  const struct view_named *of_a = &part->a_named, *of_b = &part->b_named;
  const struct view_tree *tree_a = diff->contrast.a.tree, *tree_b = diff->contrast.b.tree;
  double a = debug_share(of_a), b = debug_share(of_b);
  if (a < 0 || b < 0) return 0;
  double in_a = share_of(of_a->by_debug + of_a->by_others, tree_a);
  double in_b = share_of(of_b->by_debug + of_b->by_others, tree_b);
  if (of == VIEW_TOTAL) {
    in_a -= share_of(diff->beneath[0][at], tree_a);
    in_b -= share_of(diff->beneath[1][at], tree_b);
  }
  return fabs(a - b) * fmax(fmax(in_a, in_b), 0);
}

/* Sums for each row the time below it of differently named rows of its module. */
static int sum_beneath(struct diff *diff, struct arena *arena) {
  uint32_t count = diff->rows.count;
  bool *is_unlike = arena_array(arena, (size_t)count + 1, sizeof *is_unlike);
  if (is_unlike == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < count; i++) is_unlike[i] = !is_named_alike(&diff->rows.rows[i]);
  for (unsigned side = 0; side < 2; side++) {
    const struct view_tree *tree = side == 0 ? diff->contrast.a.tree : diff->contrast.b.tree;
    diff->beneath[side] = arena_array(arena, (size_t)count + 1, sizeof *diff->beneath[side]);
    if (diff->beneath[side] == NULL) return -ENOMEM;
    int error = diff_rows_beneath(&diff->rows, side, tree, is_unlike, diff->beneath[side]);
    if (error != 0) return error;
  }
  return 0;
}

static double cut_of(const struct diff *diff, const struct view_tree *tree, unsigned side,
                     uint32_t row) {
  double all = side == 0 ? diff->a.cut : diff->b.cut;
  return fmax(all - share_of(diff->rows.sides[side].cut[row], tree), 0);
}

/* Sets how much more row AT may have had than it shows, on each side. */
static void set_more(const struct diff *diff, uint32_t at, enum view_of of, struct question *ret) {
  const struct view_tree *a = diff->contrast.a.tree, *b = diff->contrast.b.tree;
  const struct view_diff_row *row = &diff->rows.rows[at];
  const struct part *part = part_of(diff, row->module);
  if (is_of_clocks(row) || pseudo_is_placeless(row->name)) return;
  ret->more_a = diff->a.unsampled, ret->more_b = diff->b.unsampled;
  if (of == VIEW_TOTAL) {
    ret->more_a += diff->a.kernel + cut_of(diff, a, 0, at);
    ret->more_b += diff->b.kernel + cut_of(diff, b, 1, at);
  }
  ret->unlike = unlike_of(diff, part, at, of);
  if (!row->is_apart) {
    ret->more_a += ret->unlike + share_of(part->a_apart, a);
    ret->more_b += ret->unlike + share_of(part->b_apart, b);
  } else {
    ret->more_a += row->a_weight > 0 ? 0 : share_of(part->a_weight, a);
    ret->more_b += row->b_weight > 0 ? 0 : share_of(part->b_weight, b);
  }
}

/* The p-value of the difference of A and B, scaled: by samples and by units, the larger one. */
static double p_of(const struct diff *diff, const struct question *question, double a, double b) {
  const struct contrast_error *error = &question->error;
  double variance = samples_variance(diff, question->scale, pooled(diff, question->scale, a, b));
  double p = variance > 0 ? erfc(fabs(b - a) / sqrt(2 * variance)) : 1;
  if (!(error->variance > 0)) return p;
  return fmax(p, student_p((b - a) / sqrt(error->variance), error->df));
}

/* The least increase that the test finds 4 times of 5 if it is the only one.  A function's
   variation from one stretch of time to the next grows with its share. */
static double detectable_of(const struct diff *diff, const struct question *question) {
  enum { STEPS = 8 };
  bool is_these = diff->contrast.a.boards == 0 && diff->contrast.b.boards == 0;
  double level = false_share / fmax(question->tested, 1), found = 0;
  double points = student_point(level, INFINITY) + student_point(2 * miss, INFINITY);
  double units =
      student_point(level, question->error.df) + student_point(2 * miss, question->error.df);
  for (unsigned i = 0; i < STEPS; i++) {
    double b = question->a + found, growth = 1;
    if (is_these && question->b > 0)
      growth = fmin(fmax(b / question->scale / question->b, 1), growth_max);
    double by_samples =
        samples_variance(diff, question->scale, pooled(diff, question->scale, question->a, b));
    double by_units = question->error.variance * (1 + growth * growth) / 2;
    found = fmax(units * sqrt(by_units), points * sqrt(by_samples));
  }
  double margin = student_point(2 * miss, INFINITY) / student_point(false_share, INFINITY);
  return found + question->more_a + question->either * (1 + margin);
}

static void set_interval(const struct diff *diff, const struct question *question,
                         struct view_change *ret) {
  struct view_share a = interval_wilson(question->a, diff->contrast.a.ratio.trials);
  struct view_share b = interval_wilson(question->b, diff->contrast.b.ratio.trials);
  double scale = question->scale, variance = question->error.variance;
  double units = variance > 0 ? student_quantile(question->error.df) * sqrt(variance) : 0;
  double down = hypot(scale * (b.share - b.low), a.high - a.share);
  double up = hypot(scale * (b.high - b.share), a.share - a.low);
  ret->low = ret->difference - fmax(down, units);
  ret->high = ret->difference + fmax(up, units);
}

/* Why CHANGE's interval contains 0, which it did not before it was widened. */
static enum view_doubt widened_by(const struct question *question) {
  return question->either > fmax(question->more_a, question->more_b) ? VIEW_RUNS : VIEW_HIDDEN;
}

static void compare(const struct diff *diff, const struct question *question,
                    struct view_change *ret) {
  double a = question->a, b = question->scale * question->b;
  double more_a = question->more_a + question->either;
  double more_b = question->scale * question->more_b + question->either;
  ret->a = a, ret->b = b, ret->difference = b - a;
  set_interval(diff, question, ret);
  bool is_apart_from_0 = ret->low > 0 || ret->high < 0;
  ret->low = fmax(ret->low - more_a, -1);
  ret->high = fmin(ret->high + more_b, fmax(question->scale, 1));
  double least_a = a < b ? fmin(a + more_a, b) : a, least_b = b < a ? fmin(b + more_b, a) : b;
  ret->p_alone = ret->is_tested ? p_of(diff, question, least_a, least_b) : 1;
  ret->p = 1;
  ret->detectable = question->has_premise ? detectable_of(diff, question) : INFINITY;
  bool is_same = question->has_premise && ret->low > -same_within && ret->high < same_within;
  ret->verdict = is_same ? VIEW_SAME : VIEW_UNCLEAR;
  if (question->is_short) ret->low = ret->high = NAN;
  bool is_widened = !is_same && is_apart_from_0 && ret->low <= 0 && ret->high >= 0;
  ret->doubt = is_widened ? widened_by(question) : VIEW_NO_DOUBT;
  if (question->unlike > same_within) ret->doubt = VIEW_UNLIKE;
  if (question->is_short) ret->doubt = VIEW_SHORT;
}

static struct runs runs_of(const struct diff *diff) {
  const struct view_diff_options *options = diff->options;
  return (struct runs){options->a_runs > 0 ? options->a_runs : options->units.a,
                       options->b_runs > 0 ? options->b_runs : options->units.b};
}

/* Whether the runs of both sides take enough CPU time to be compared. */
static bool are_long_enough(const struct diff *diff) {
  struct runs runs = runs_of(diff);
  return fmin((double)diff->contrast.a.tree->total_weight / runs.a,
              (double)diff->contrast.b.tree->total_weight / runs.b) >= run_least_ns;
}

/* How far the CPU time of both sides' runs may differ without a cause; 0: the units are no runs. */
static double drift_of(const struct diff *diff) {
  struct runs runs = runs_of(diff);
  return diff->contrast.is_of_runs ? run_to_run * sqrt((1 / runs.a + 1 / runs.b) / 2) : 0;
}

/* Compares row AT three times. */
static void compare_row(struct diff *diff, uint32_t at) {
  struct view_diff_row *row = &diff->rows.rows[at];
  const struct contrast *contrast = &diff->contrast;
  row->cpu.is_tested = can_be_tested(diff, at, diff->options->of);
  struct question questions[VIEW_OF_COUNT];
  for (unsigned of = 0; of < VIEW_OF_COUNT; of++) {
    struct view_change *change = of == VIEW_SELF ? &row->self : &row->total;
    change->is_tested = can_be_tested(diff, at, (enum view_of)of);
    questions[of] =
        (struct question){.a = change->a,
                          .b = change->b,
                          .scale = 1,
                          .tested = diff->tested[of],
                          .is_short = is_short(diff, at, (enum view_of)of),
                          .has_premise = has_premise(diff, at, (enum view_of)of),
                          .error = contrast_shares_error(contrast, &diff->rows.spreads[of][at])};
    set_more(diff, at, (enum view_of)of, &questions[of]);
    compare(diff, &questions[of], change);
  }
  struct question cpu = questions[diff->options->of];
  cpu.scale = contrast->scale;
  cpu.error = contrast_cpu_error(contrast, &diff->rows.spreads[diff->options->of][at]);
  double drift = drift_of(diff);
  cpu.either = drift / (1 + drift) * fmax(cpu.a, cpu.scale * cpu.b);
  compare(diff, &cpu, &row->cpu);
}

static void set_shares(struct diff *diff) {
  const struct view_tree *a = diff->contrast.a.tree, *b = diff->contrast.b.tree;
  for (uint32_t i = 0; i < diff->rows.count; i++) {
    struct view_diff_row *row = &diff->rows.rows[i];
    row->self.a = share_of(row->a_weight, a), row->self.b = share_of(row->b_weight, b);
    row->total.a = share_of(row->a_total, a), row->total.b = share_of(row->b_total, b);
  }
}

static struct hidden hidden_of(const struct view_tree *tree) {
  struct hidden hidden = {.kernel = share_of(pseudo_kernel_weight(tree), tree)};
  for (uint32_t i = 1; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    const struct view_function *function = &tree->functions[node->function];
    if (pseudo_is_placeless(function->name))
      hidden.unsampled += share_of(node->self_weight, tree);
    else if (node->parent == 0 && function->end != STACK_UNTOLD)
      hidden.cut += share_of(node->total_weight, tree);
  }
  return hidden;
}

static int compare_all(struct diff *diff, struct arena *arena) {
  struct contrast *contrast = &diff->contrast;
  set_shares(diff);
  int error = diff_rows_spread(&diff->rows, contrast, arena);
  double independent = fmin(contrast_independent(&contrast->a), contrast_independent(&contrast->b));
  diff->is_short = independent < CONTRAST_INDEPENDENT_MIN;
  if (error == 0) error = sum_beneath(diff, arena);
  diff->a = hidden_of(contrast->a.tree), diff->b = hidden_of(contrast->b.tree);
  for (uint32_t i = 0; i < diff->rows.count && error == 0; i++)
    for (unsigned of = 0; of < VIEW_OF_COUNT; of++)
      diff->tested[of] += can_be_tested(diff, i, (enum view_of)of);
  for (uint32_t i = 0; i < diff->rows.count && error == 0; i++) {
    compare_row(diff, i);
    if (cutoff_is_at(contrast->a.tree->cutoff, i)) error = -ETIMEDOUT;
  }
  return error;
}

/* Why CHANGE of ROW is unclear. */
static enum view_doubt doubt_of(const struct diff *diff, const struct view_diff_row *row,
                                const struct view_change *change) {
  if (row->is_apart) return VIEW_APART;
  if (change->verdict != VIEW_UNCLEAR) return VIEW_NO_DOUBT;
  if (is_of_clocks(row) && !contrast_is_of_boards(&diff->contrast)) return VIEW_CLOCKS;
  if (change->doubt == VIEW_SHORT || change->doubt == VIEW_UNLIKE) return change->doubt;
  if (change->low > 0 || change->high < 0) return VIEW_MANY;
  return change->doubt;
}

static int surest_first(const void *left, const void *right) {
  const struct view_change *a = *(struct view_change *const *)left;
  const struct view_change *b = *(struct view_change *const *)right;
  return a->p_alone < b->p_alone ? -1 : a->p_alone > b->p_alone;
}

static void call_changed(struct view_change *change) {
  change->verdict = !(change->a > 0) ? VIEW_NEW : !(change->b > 0) ? VIEW_GONE : VIEW_CHANGED;
}

/* The step of Benjamini and Hochberg, as adjusted p-values: the i-th smallest of the COUNT
   CHANGES gets p * count / i, but at most the adjusted value of the next. */
static void judge(struct view_change **changes, uint32_t count) {
  double least = 1;
  qsort(changes, count, sizeof(struct view_change *), surest_first);
  for (uint32_t i = count; i-- > 0;) {
    least = fmin(least, changes[i]->p_alone * count / (i + 1));
    changes[i]->p = least;
    if (least <= false_share) call_changed(changes[i]);
  }
}

static struct view_change *change_at(struct view_diff_row *row, unsigned which) {
  return which == 0 ? &row->self : which == 1 ? &row->total : &row->cpu;
}

static int judge_all(const struct diff *diff, struct arena *arena) {
  enum { CHANGES = 3 };
  struct view_diff_row *rows = diff->rows.rows;
  struct view_change **changes = arena_array(arena, diff->rows.count, sizeof(struct view_change *));
  if (changes == NULL) return -ENOMEM;
  for (unsigned which = 0; which < CHANGES; which++) {
    uint32_t count = 0;
    if (cutoff_is_past(diff->contrast.a.tree->cutoff)) return -ETIMEDOUT;
    for (uint32_t i = 0; i < diff->rows.count; i++)
      if (change_at(&rows[i], which)->is_tested) changes[count++] = change_at(&rows[i], which);
    judge(changes, count);
    for (uint32_t i = 0; i < diff->rows.count; i++) {
      struct view_change *change = change_at(&rows[i], which);
      change->doubt = doubt_of(diff, &rows[i], change);
    }
  }
  return 0;
}

/* The least standard error of ln(b / a): a side's time is known to one sample. */
static double grain_of(const struct diff *diff) {
  double n = diff->contrast.a.ratio.trials, m = diff->contrast.b.ratio.trials;
  return n > 0 && m > 0 ? hypot(1 / n, 1 / m) : INFINITY;
}

/* A side of runs does not show how much runs differ, so a difference within RUN_TO_RUN counts as
   none. That is a rule of thumb and not a test, so there is no p. */
static void judge_whole(const struct diff *diff, struct view_whole *ret) {
  struct contrast_error error = contrast_whole_error(&diff->contrast);
  double either = log1p(drift_of(diff)), grain = grain_of(diff);
  double change = log(ret->ratio);
  double spread = diff->contrast.is_of_runs ? 0 : fmax(sqrt(error.variance), grain);
  double reach = spread > 0 ? student_quantile(error.df) * spread : 0;
  bool has_units = diff->contrast.is_of_runs ? are_long_enough(diff) : !diff->is_short;
  ret->low = exp(change - reach - either), ret->high = exp(change + reach + either);
  ret->verdict = VIEW_UNCLEAR, ret->doubt = has_units ? VIEW_NO_DOUBT : VIEW_SHORT;
  ret->detectable = INFINITY;
  if (!has_units) ret->low = ret->high = NAN;
  if (!has_units) return;
  double least = fmax(fabs(change) - either, 0);
  double p = spread > 0 ? student_p(least / spread, error.df) : least > 0 ? 0 : 1;
  if (!diff->contrast.is_of_runs) ret->p = p;
  double margin = student_point(2 * miss, INFINITY) / student_point(false_share, INFINITY);
  double needed = student_point(false_share, error.df) + student_point(2 * miss, error.df);
  ret->detectable = expm1(either * (1 + margin) + (spread > 0 ? needed * spread : 0));
  if (p <= false_share)
    ret->verdict = VIEW_CHANGED;
  else if (ret->low > 1 - same_within && ret->high < 1 + same_within)
    ret->verdict = VIEW_SAME;
  else if (either > 0)
    ret->doubt = VIEW_RUNS;
}

static void set_whole(const struct diff *diff, struct view_whole *ret) {
  const struct view_units *units = &diff->options->units;
  *ret = (struct view_whole){
      .a = (double)diff->contrast.a.tree->total_weight / units->a,
      .b = (double)diff->contrast.b.tree->total_weight / units->b,
      .ratio = NAN,
      .low = NAN,
      .high = NAN,
      .p = diff->contrast.is_of_runs ? NAN : 1,
      .detectable = INFINITY,
      .verdict = VIEW_UNCLEAR,
      .doubt = VIEW_SHORT,
  };
  if (!(ret->a > 0) || !(ret->b > 0)) return;
  ret->ratio = ret->b / ret->a;
  judge_whole(diff, ret);
}

static int largest_first(const void *left, const void *right, void *context) {
  const struct view_diff_options *options = context;
  const struct view_diff_row *a = left, *b = right;
  double one = fabs(view_diff_change(options, a)->difference);
  double other = fabs(view_diff_change(options, b)->difference);
  if (one != other) return one > other ? -1 : 1;
  int by_name = strcmp(a->name, b->name);
  if (by_name == 0) by_name = strcmp(a->module, b->module);
  return by_name != 0 || !a->file || !b->file ? by_name : strcmp(a->file, b->file);
}

static struct view_basis basis_of(const struct contrast_side *side) {
  if (side->ratio.kind != GROUPS_TIMES) return ratio_basis(&side->ratio);
  return (struct view_basis){"stretches of time", (unsigned)contrast_independent(side)};
}

static void set_basis(const struct diff *diff, struct view_diff *ret) {
  const struct contrast *contrast = &diff->contrast;
  ret->basis = (struct view_diff_basis){.a = basis_of(&contrast->a),
                                        .b = basis_of(&contrast->b),
                                        .a_seconds = contrast_seconds(&contrast->a),
                                        .b_seconds = contrast_seconds(&contrast->b),
                                        .phase_seconds = contrast_phase_seconds(contrast),
                                        .pairs = contrast->pairs};
  bool is_these = contrast->a.boards == 0 && contrast->b.boards == 0;
  ret->scope = is_these ? VIEW_THESE : VIEW_FLEET;
}

/* CPU time of B per unit, as a part of that of A; 1 if a side has none. */
static double scale_of(const struct view_tree *a, const struct view_tree *b,
                       const struct view_units *units) {
  if (a->total_weight == 0 || b->total_weight == 0) return 1;
  return (double)b->total_weight / units->b / ((double)a->total_weight / units->a);
}

int view_diff(const struct view_tree *a, const struct view_tree *b,
              const struct view_diff_options *options, struct arena *arena, struct view_diff *ret) {
  struct diff diff = {.options = options};
  int error = diff_rows_init(&diff.rows, a, b, arena);
  diff.parts = arena_array(arena, (size_t)diff.rows.count + 1, sizeof *diff.parts);
  if (diff.parts == NULL) error = -ENOMEM;
  if (error == 0) error = contrast_init(&diff.contrast, a, b, arena);
  diff.contrast.scale = scale_of(a, b, &options->units);
  diff.contrast.is_of_runs = options->a_runs > 0 || strcmp(options->units.name, "run") == 0;
  if (error == 0) error = sum_parts(&diff);
  if (error == 0) error = compare_all(&diff, arena);
  if (error == 0) error = judge_all(&diff, arena);
  if (error == 0) error = diff_moves_find(&diff.rows, &diff.contrast, options, arena);
  diff_rows_fini(&diff.rows);
  table_fini(&diff.by_module);
  if (error != 0) return error;
  *ret = (struct view_diff){.options = *options, .rows = diff.rows.rows, .count = diff.rows.count};
  ret->tested = diff.tested[options->of];
  set_whole(&diff, &ret->whole);
  set_basis(&diff, ret);
  qsort_r(ret->rows, ret->count, sizeof *ret->rows, largest_first, &ret->options);
  return 0;
}
