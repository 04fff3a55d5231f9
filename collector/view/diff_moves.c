/* SPDX-License-Identifier: Apache-2.0 */
/* Splits each change into time that moved between functions and growth. Renaming a function, or
   moving half of its body into a new one, costs nothing. The new function is still `new`, with
   all of its time.

   Growth is computed from self times, because every nanosecond is the self time of one function.
   A function has grown by the increase of its self time in the whole program, less the time it
   took over:

     renamed   from a function that is gone, with the same caller and about the same total and self
     split     from the self time of its caller, which has fallen
     inlined   from callees that are gone, into their caller

   The total of a function has grown by the growth of the functions within its stacks. A function
   that was called from elsewhere before, and takes as long as before, has not grown. A speed-up
   of one function never excuses the growth of another that is not its caller or callee.

   Shares of all functions fall when a new one is added, and so does CPU time per hour at a
   constant load. That frees no time to take over. The pace is the median of b / a over the self
   times of functions that are on both sides and that no move can concern. A function's time on
   side a counts times the pace. The pace is 1 if the samples of these functions do not determine
   it. A function that is gone counts in full: all of its time may be in another function.

   Decreases are split the same way, with the sides swapped. */
#include "diff_moves.h"

#include "contrast.h"
#include "diff_rows.h"
#include "student.h"

#include "common/arena.h"
#include "common/cutoff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_part = 0.005;  /* of all: smaller changes are ignored */
static const double alike_within = 0.2;  /* totals of a function that was renamed */
static const double alike_self = 0.25;   /* self times as parts of the totals of both */
static const double through_least = 0.8; /* of a caller's change, in the function that explains
                                            it */
static const double median_least = 0.05; /* of all, in functions that determine the pace */
static const double pace_errors = 2;     /* standard errors by which the pace is below 1 */

enum { CALLERS_MAX = 128 /* from a new function to one on both sides */ };

/* One side: its values of each row, in the unit of the changes. */
struct moves_side {
  const struct view_tree *tree;
  const struct diff_side *of;
  double unit;      /* of a nanosecond */
  double *self;     /* of each row */
  double *total;    /* of each row */
  uint32_t *caller; /* of each row: the row of most of its callers, or DIFF_ROW_NONE */
  bool *is_within;  /* of each node: in the stacks of the row being examined */
  double *self_within, *total_within; /* of each row */
};

struct moves {
  struct view_diff_row *rows;
  const struct contrast *contrast;
  struct contrast_spread *const *spreads; /* by enum view_of, of each row */
  uint32_t count;
  const struct view_diff_options *options;
  struct moves_side more, less;    /* the side with the larger amount in the current direction,
                                      and the other */
  bool is_of_work;                 /* CPU time of runs, or of a unit of work given by the user */
  double more_trials, less_trials; /* effective samples of each side */
  double pace;
  double *growth; /* of each row: increase of its self time, less the time it took over */
  double *taken;  /* of each row: part of its self time taken over by others */
  uint32_t *from; /* of each row: the function it took over most from, or DIFF_ROW_NONE */
  uint32_t *gone; /* GONE_COUNT rows only on the side with less, the largest first */
  uint32_t gone_count;
  enum view_move *how;
};

static int side_init(struct moves_side *side, uint32_t count, struct arena *arena) {
  side->self = arena_array(arena, count, sizeof *side->self);
  side->total = arena_array(arena, count, sizeof *side->total);
  side->caller = arena_array(arena, count, sizeof *side->caller);
  side->is_within = arena_array(arena, side->tree->node_count, sizeof *side->is_within);
  side->self_within = arena_array(arena, count, sizeof *side->self_within);
  side->total_within = arena_array(arena, count, sizeof *side->total_within);
  bool has_all = side->self && side->total && side->caller && side->is_within &&
                 side->self_within && side->total_within;
  return has_all ? 0 : -ENOMEM;
}

static uint32_t row_at(const struct moves_side *side, uint32_t node) {
  return side->of->row_of[side->tree->nodes[node].function];
}

static uint32_t caller_at(const struct moves_side *side, uint32_t node) {
  uint32_t parent = side->tree->nodes[node].parent;
  return parent == 0 ? DIFF_ROW_NONE : row_at(side, parent);
}

/* The caller of more than half of each row's time, by weighted majority vote. */
static int find_callers(struct moves_side *side, uint32_t count, struct arena *arena) {
  wide_sum *votes = arena_array(arena, count, sizeof *votes);
  if (votes == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < count; i++) side->caller[i] = DIFF_ROW_NONE;
  for (uint32_t i = 1; i < side->tree->node_count; i++) {
    uint32_t row = row_at(side, i), caller = caller_at(side, i);
    wide_sum weight = side->tree->nodes[i].total_weight;
    if (row == DIFF_ROW_NONE || !side->of->is_outermost[i]) continue;
    if (side->caller[row] == caller) {
      votes[row] += weight;
    } else if (votes[row] >= weight) {
      votes[row] -= weight;
    } else {
      votes[row] = weight - votes[row];
      side->caller[row] = caller;
    }
  }
  return 0;
}

static void sum_rows(struct moves_side *side) {
  for (uint32_t i = 1; i < side->tree->node_count; i++) {
    const struct view_node *node = &side->tree->nodes[i];
    uint32_t row = row_at(side, i);
    if (row == DIFF_ROW_NONE) continue;
    side->self[row] += side->unit * (double)node->self_weight;
    if (side->of->is_outermost[i]) side->total[row] += side->unit * (double)node->total_weight;
  }
}

/* The nearest caller of ROW on SIDE that is on OTHER, too; DIFF_ROW_NONE: none. */
static uint32_t anchor_of(const struct moves_side *side, const struct moves_side *other,
                          uint32_t row) {
  for (unsigned i = 0; i < CALLERS_MAX && row != DIFF_ROW_NONE; i++) {
    row = side->caller[row];
    if (row == DIFF_ROW_NONE || other->total[row] > 0) return row;
  }
  return DIFF_ROW_NONE;
}

/* Whether only SIDE has ROW, with enough time. */
static bool is_alone(const struct moves_side *side, const struct moves_side *other, uint32_t row) {
  return other->total[row] <= 0 && side->total[row] >= least_part;
}

struct pace_row {
  double ratio, weight;
};

static int slowest_last(const void *left, const void *right) {
  const struct pace_row *a = left, *b = right;
  return a->ratio < b->ratio ? -1 : a->ratio > b->ratio;
}

/* The pace if too few functions determine it. Runs do the same work; hours do not. */
static double pace_without(const struct moves *moves) {
  double alone = 0;
  if (moves->is_of_work) return 1;
  for (uint32_t i = 0; i < moves->count; i++)
    if (moves->less.total[i] <= 0) alone += moves->more.self[i];
  return fmax(1 - alone, 0);
}

static int find_pace(struct moves *moves, struct arena *arena) {
  struct pace_row *found = arena_array(arena, (size_t)moves->count + 1, sizeof *found);
  bool *is_anchor = arena_array(arena, (size_t)moves->count + 1, sizeof *is_anchor);
  double all = 0, all_after = 0, passed = 0;
  uint32_t count = 0, at = 0;
  if (found == NULL || is_anchor == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < moves->count; i++) {
    uint32_t anchor = DIFF_ROW_NONE;
    if (is_alone(&moves->more, &moves->less, i)) anchor = anchor_of(&moves->more, &moves->less, i);
    if (is_alone(&moves->less, &moves->more, i)) anchor = anchor_of(&moves->less, &moves->more, i);
    if (anchor != DIFF_ROW_NONE) is_anchor[anchor] = true;
  }
  for (uint32_t i = 0; i < moves->count; i++) {
    double before = moves->less.self[i], after = moves->more.self[i];
    if (!(before > 0) || !(after > 0) || is_anchor[i]) continue;
    found[count++] = (struct pace_row){after / before, before};
    all += before, all_after += after;
  }
  moves->pace = pace_without(moves);
  if (all < median_least) return 0;
  qsort(found, count, sizeof *found, slowest_last);
  while (at + 1 < count && passed + found[at].weight < all / 2) passed += found[at++].weight;
  double error = sqrt(1 / (all * moves->less_trials) + 1 / (all_after * moves->more_trials));
  moves->pace = found[at].ratio < 1 - pace_errors * error ? found[at].ratio : 1;
  return 0;
}

static void take(struct moves *moves, uint32_t row, uint32_t from, double amount,
                 enum view_move how) {
  if (!(amount > 0)) return;
  moves->growth[row] -= amount;
  moves->taken[from] += amount;
  if (moves->from[row] != DIFF_ROW_NONE && moves->taken[moves->from[row]] > amount) return;
  moves->from[row] = from;
  moves->how[row] = how;
}

static bool is_alike(const struct moves *moves, uint32_t row, uint32_t gone) {
  const struct moves_side *more = &moves->more, *less = &moves->less;
  double after = more->total[row], all = less->total[gone];
  double before = fmin(fmax(after, moves->pace * all), all);
  if (strcmp(moves->rows[row].module, moves->rows[gone].module) != 0) return false;
  if (fabs(after - before) > alike_within * fmax(after, before)) return false;
  if (fabs(more->self[row] / after - less->self[gone] / less->total[gone]) > alike_self)
    return false;
  return anchor_of(more, less, row) == anchor_of(less, more, gone);
}

static int largest_total_first(const void *left, const void *right, void *context) {
  const struct moves_side *side = context;
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  if (side->total[a] != side->total[b]) return side->total[a] > side->total[b] ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* A side of a large program may have thousands of these functions, and each new one is compared
   with all; so only the largest are kept. */
static int find_gone(struct moves *moves, struct arena *arena) {
  moves->gone = arena_array(arena, (size_t)moves->count + 1, sizeof *moves->gone);
  moves->gone_count = 0;
  if (moves->gone == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < moves->count; i++)
    if (is_alone(&moves->less, &moves->more, i)) moves->gone[moves->gone_count++] = i;
  qsort_r(moves->gone, moves->gone_count, sizeof *moves->gone, largest_total_first, &moves->less);
  if (moves->gone_count > DIFF_MOVES_GONE_MAX) moves->gone_count = DIFF_MOVES_GONE_MAX;
  return 0;
}

/* The function that ROW was before it was renamed, or DIFF_ROW_NONE. */
static uint32_t find_renamed(const struct moves *moves, uint32_t row) {
  uint32_t found = DIFF_ROW_NONE;
  double least = INFINITY;
  for (uint32_t at = 0; at < moves->gone_count; at++) {
    uint32_t i = moves->gone[at];
    if (moves->taken[i] > 0) continue;
    double distance = fabs(moves->more.total[row] - moves->less.total[i]);
    if (distance >= least || !is_alike(moves, row, i)) continue;
    least = distance;
    found = i;
  }
  return found;
}

static int find_sources(struct moves *moves) {
  const struct moves_side *more = &moves->more, *less = &moves->less;
  for (uint32_t i = 0; i < moves->count; i++) {
    if (!is_alone(more, less, i)) continue;
    if (cutoff_is_past(more->tree->cutoff)) return -ETIMEDOUT;
    uint32_t gone = find_renamed(moves, i);
    if (gone == DIFF_ROW_NONE) continue;
    take(moves, i, gone, fmin(more->self[i], less->self[gone]), VIEW_RENAMED);
    moves->taken[gone] = fmax(moves->taken[gone], least_part);
    moves->from[i] = gone, moves->how[i] = VIEW_RENAMED;
  }
  for (uint32_t i = 0; i < moves->count; i++) {
    bool is_new = less->total[i] <= 0 && moves->from[i] == DIFF_ROW_NONE;
    uint32_t caller = is_new ? anchor_of(more, less, i) : DIFF_ROW_NONE;
    if (caller == DIFF_ROW_NONE) continue;
    double fall = moves->pace * less->self[caller] - more->self[caller] - moves->taken[caller];
    take(moves, i, caller, fmin(more->self[i], fall), VIEW_SPLIT);
  }
  for (uint32_t i = 0; i < moves->count; i++) {
    bool is_gone = more->total[i] <= 0 && !(moves->taken[i] > 0);
    uint32_t caller = is_gone ? anchor_of(less, more, i) : DIFF_ROW_NONE;
    if (caller != DIFF_ROW_NONE)
      take(moves, caller, i, fmin(less->self[i], moves->growth[caller]), VIEW_INLINED);
  }
  return 0;
}

/* Sums the times in the stacks of ROW on SIDE. */
static void look_within(struct moves_side *side, uint32_t row, uint32_t count) {
  memset(side->self_within, 0, count * sizeof *side->self_within);
  memset(side->total_within, 0, count * sizeof *side->total_within);
  for (uint32_t i = 1; i < side->tree->node_count; i++) {
    const struct view_node *node = &side->tree->nodes[i];
    uint32_t at = row_at(side, i);
    side->is_within[i] = at == row || (node->parent != 0 && side->is_within[node->parent]);
    if (!side->is_within[i] || at == DIFF_ROW_NONE) continue;
    side->self_within[at] += side->unit * (double)node->self_weight;
    if (side->of->is_outermost[i])
      side->total_within[at] += side->unit * (double)node->total_weight;
  }
}

/* The growth within the examined stacks. Functions whose self time has not significantly changed
   are summed with their signs, because chance moves each of them but their sum only a little.
   RET_FROM: the function with most time that is no growth. */
static double growth_within(const struct moves *moves, uint32_t *ret_from) {
  double sure = 0, others = 0, most = 0;
  *ret_from = DIFF_ROW_NONE;
  for (uint32_t i = 0; i < moves->count; i++) {
    double grown = moves->more.self_within[i] - moves->pace * moves->less.self_within[i];
    double growth = moves->growth[i];
    if (view_verdict_is_change(moves->rows[i].self.verdict))
      sure += fmax(fmin(growth, grown), 0);
    else
      others += fabs(growth) < fabs(grown) ? growth : grown;
    if (grown - fmax(growth, 0) <= most) continue;
    most = grown - fmax(growth, 0);
    *ret_from = i;
  }
  return sure + fmax(others, 0);
}

/* Whether ROW is deeper in the stacks than OTHER, by total; with equal totals, by the larger
   self time. */
static bool is_deeper(const struct moves_side *side, uint32_t row, uint32_t other) {
  if (side->total[row] != side->total[other]) return side->total[row] < side->total[other];
  return side->self[row] > side->self[other];
}

/* The deepest changed function within the stacks of ROW that has most of its CHANGE. */
static uint32_t find_through(const struct moves *moves, uint32_t row, double change) {
  uint32_t found = DIFF_ROW_NONE;
  for (uint32_t i = 0; i < moves->count; i++) {
    double within = moves->more.total_within[i] - moves->less.total_within[i];
    if (i == row || within < through_least * change) continue;
    const struct view_change *other = view_diff_change(moves->options, &moves->rows[i]);
    if (!view_verdict_is_change(other->verdict)) continue;
    if (found == DIFF_ROW_NONE || is_deeper(&moves->more, i, found)) found = i;
  }
  return found;
}

static struct view_other name_of(const struct view_diff_row *row) {
  return (struct view_other){.name = row->name, .module = row->module, .file = row->file};
}

/* Half of the 95 % interval of the change of ROW's OF, by its sampling units and by its samples.
   Unsampled time and the spread of runs are left out. */
static double error_of(const struct moves *moves, uint32_t row, enum view_of of) {
  const struct contrast *contrast = moves->contrast;
  const struct contrast_spread *spread = &moves->spreads[of][row];
  const struct view_change *change =
      of == VIEW_SELF ? &moves->rows[row].self : &moves->rows[row].total;
  bool is_cpu = moves->options->measure == VIEW_CPU;
  double scale = is_cpu ? contrast->scale : 1, a = change->a, b = change->b;
  struct contrast_error units =
      is_cpu ? contrast_cpu_error(contrast, spread) : contrast_shares_error(contrast, spread);
  double by_units = units.variance > 0 ? student_quantile(units.df) * sqrt(units.variance) : 0;
  double by_samples = a * (1 - a) / fmax(contrast->a.ratio.trials, 1) +
                      scale * scale * b * (1 - b) / fmax(contrast->b.ratio.trials, 1);
  return fmax(by_units, student_quantile(INFINITY) * sqrt(fmax(by_samples, 0)));
}

static void split_row(struct moves *moves, uint32_t row) {
  struct view_diff_row *of = &moves->rows[row];
  double change = fabs(view_diff_change(moves->options, of)->difference);
  double growth = fmax(moves->growth[row], 0);
  uint32_t moved = row;
  if (moves->options->of == VIEW_TOTAL) {
    look_within(&moves->more, row, moves->count);
    look_within(&moves->less, row, moves->count);
    growth = growth_within(moves, &moved);
    if (moves->from[row] != DIFF_ROW_NONE && moves->how[row] == VIEW_RENAMED) moved = row;
    uint32_t through = find_through(moves, row, change);
    if (through != DIFF_ROW_NONE) of->through = name_of(&moves->rows[through]);
  }
  if (change - growth < least_part) return;
  bool has_source = moved != DIFF_ROW_NONE && moves->from[moved] != DIFF_ROW_NONE;
  of->moved = (struct view_moved){.amount = change - growth,
                                  .error = error_of(moves, row, moves->options->of),
                                  .how = has_source ? moves->how[moved] : VIEW_CALLS};
  if (!has_source) return;
  of->moved.of = name_of(&moves->rows[moves->from[moved]]);
  of->moved.error = hypot(of->moved.error, error_of(moves, moves->from[moved], VIEW_SELF));
}

/* Splits the changes towards side MORE. */
static int split_changes(struct moves *moves, double sign, struct arena *arena) {
  bool *is_done = arena_array(arena, (size_t)moves->count + 1, sizeof *is_done);
  if (is_done == NULL) return -ENOMEM;
  for (unsigned turn = 0; turn < DIFF_MOVES_ROWS_MAX; turn++) {
    uint32_t largest = DIFF_ROW_NONE;
    double most = least_part;
    for (uint32_t i = 0; i < moves->count; i++) {
      const struct view_change *change = view_diff_change(moves->options, &moves->rows[i]);
      if (is_done[i] || !view_verdict_is_change(change->verdict)) continue;
      if (sign * change->difference <= most) continue;
      most = sign * change->difference;
      largest = i;
    }
    if (largest == DIFF_ROW_NONE) break;
    if (cutoff_is_past(moves->more.tree->cutoff)) return -ETIMEDOUT;
    is_done[largest] = true;
    split_row(moves, largest);
  }
  return 0;
}

static int find_moves(struct moves *moves, double sign, struct arena *arena) {
  moves->growth = arena_array(arena, moves->count, sizeof *moves->growth);
  moves->taken = arena_array(arena, moves->count, sizeof *moves->taken);
  moves->from = arena_array(arena, moves->count, sizeof *moves->from);
  moves->how = arena_array(arena, moves->count, sizeof *moves->how);
  if (!moves->growth || !moves->taken || !moves->from || !moves->how) return -ENOMEM;
  int error = find_pace(moves, arena);
  if (error == 0) error = find_gone(moves, arena);
  if (error != 0) return error;
  for (uint32_t i = 0; i < moves->count; i++) {
    moves->growth[i] = moves->more.self[i] - moves->pace * moves->less.self[i];
    moves->from[i] = DIFF_ROW_NONE;
  }
  error = find_sources(moves);
  return error == 0 ? split_changes(moves, sign, arena) : error;
}

int diff_moves_find(struct diff_rows *rows, const struct contrast *contrast,
                    const struct view_diff_options *options, struct arena *arena) {
  const struct view_tree *a = contrast->a.tree, *b = contrast->b.tree;
  struct moves_side of_a = {.tree = a, .of = &rows->sides[0]};
  struct moves_side of_b = {.tree = b, .of = &rows->sides[1]};
  if (a->total_weight == 0 || b->total_weight == 0 || rows->count == 0) return 0;
  of_a.unit = 1 / (double)a->total_weight;
  of_b.unit = (options->measure == VIEW_CPU ? contrast->scale : 1) / (double)b->total_weight;
  struct moves_side *sides[] = {&of_a, &of_b};
  for (unsigned i = 0; i < 2; i++) {
    int error = side_init(sides[i], rows->count, arena);
    if (error == 0) error = find_callers(sides[i], rows->count, arena);
    if (error != 0) return error;
    sum_rows(sides[i]);
  }
  struct moves moves = {.rows = rows->rows,
                        .contrast = contrast,
                        .spreads = rows->spreads,
                        .count = rows->count,
                        .options = options,
                        .more = of_b,
                        .less = of_a};
  moves.more_trials = contrast->b.ratio.trials, moves.less_trials = contrast->a.ratio.trials;
  moves.is_of_work = options->measure == VIEW_CPU && strcmp(options->units.name, "board-hour") != 0;
  int error = find_moves(&moves, 1, arena);
  moves.more = of_a, moves.less = of_b;
  moves.more_trials = contrast->a.ratio.trials, moves.less_trials = contrast->b.ratio.trials;
  return error == 0 ? find_moves(&moves, -1, arena) : error;
}

const char *view_move_name(enum view_move move) {
  static const char *const names[] = {"calls", "renamed", "split", "inlined"};
  return names[move];
}
