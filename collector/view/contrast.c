/* SPDX-License-Identifier: Apache-2.0 */
/* The variance of a difference D = R_b - R_a; docs/statistics.md derives it.

   Boards. Each unit (a board, or one of 32 groups of boards) shifts R_a by a_i = w_i (p_i - R_a),
   corrected as in ratio.c, and R_b by b_i. Units are independent, so the variance of D is the sum
   of their squared shifts:

     v = sum over units on both sides (b_i - a_i)^2 + sum over A's others a_i^2 + over B's b_i^2

   A property of a board that is the same on both sides cancels in b_i - a_i. So the same boards
   before and after an update are compared as pairs, different boards as two samples of unequal
   variances, and a mixture accordingly. Each of the three sums has its own degrees of freedom;
   those of v are Satterthwaite's (Biometrics Bulletin 2, 1946).

   One board against several: nothing on its side shows how boards differ. It is treated as one more
   of them, with their variance plus that of its own time.

   Stretches of time. Neighbours are alike if a program has phases, so their variance alone is too
   small. Three measures together hold the rate of false alarms (docs/statistics.md has the
   simulations). First, with r the correlation of neighbours over all functions, v is multiplied by
   (1 + r) / (1 - r), as for a first-order autoregression. Second, v is the mean of the variance of
   stretches and that of 7 to 12 batches of them (B. Schmeiser, Operations Research 30, 1982);
   batches reveal slow changes that sampling noise hides in short stretches. Third, if the m
   stretches are worth fewer than CONTRAST_INDEPENDENT_MIN, m (1 - r) / (1 + r), there is no
   verdict. An estimated r is 1/m too small on average, because the mean is estimated too. */
#include "contrast.h"

#include "view.h"

#include "common/arena.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double correlation_max = 0.9;
static const double rounding = 1e-9;         /* relative, of a sum of products */
static const double phases_min = 15;         /* fewer do not support a verdict (statistics.md) */
static const double stratum_batches_min = 3; /* fewer do not determine a board's own mean */

/* Sums for one function over the stretches, or units, of one side. */
struct times_spread {
  double stretches, batches; /* sums of squared distances */
  double own;                /* the function's own correlation of neighbouring batches */
};

static bool is_of_boards(const struct contrast_side *side) {
  return side->ratio.is_grouped && side->ratio.kind != GROUPS_TIMES;
}

static bool is_of_times(const struct contrast_side *side) {
  return side->ratio.kind == GROUPS_TIMES;
}

bool contrast_is_of_boards(const struct contrast *contrast) {
  return is_of_boards(&contrast->a) && is_of_boards(&contrast->b);
}

/* Sorts the stretches with weight by time. */
static void sort_stretches(struct contrast_side *side) {
  for (unsigned i = 0; i < side->ratio.count; i++) {
    if (!(side->ratio.wholes[i] > 0)) continue;
    unsigned at = side->stretches++;
    for (; at > 0 && side->id[side->order[at - 1]] > side->id[i]; at--)
      side->order[at] = side->order[at - 1];
    side->order[at] = i;
  }
}

/* For each stretch, in order, and board: MATRIX[stretch * board_count + board]. */
struct cells {
  double *weights, *times;
};

static const struct group_cell *cell_of(const struct contrast_side *side, unsigned at,
                                        unsigned board) {
  const struct group *group = &side->tree->groups.group[side->order[at]];
  bool has_any = board < group->cell_room && group->cells[board].last_ms > 0;
  return has_any ? &group->cells[board] : NULL;
}

static int shorter(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

/* Sets the length of each stretch for BOARD. The time between windows of neighbouring stretches is
   divided evenly between the two. Beyond both ends, half of the board's median gap is added. */
static void find_times(const struct contrast_side *side, unsigned board, double *times) {
  unsigned boards = side->tree->groups.board_count, count = 0;
  const struct group_cell *last = NULL;
  double *time = NULL, *first = NULL, begin_ms = 0, gaps[GROUPS_MAX];
  for (unsigned i = 0; i < side->stretches; i++) {
    const struct group_cell *cell = cell_of(side, i, board);
    if (cell == NULL) continue;
    double start_ms = (double)cell->first_ms, end_ms = start_ms;
    if (last != NULL) {
      gaps[count++] = start_ms - (double)last->last_ms;
      end_ms = ((double)last->last_ms + start_ms) / 2;
      *time = fmax(end_ms - begin_ms, 0);
    }
    begin_ms = fmax(end_ms, begin_ms);
    time = &times[i * boards + board];
    if (last == NULL) first = time;
    last = cell;
  }
  if (last == NULL) return;
  *time = fmax((double)last->last_ms - begin_ms, 0);
  qsort(gaps, count, sizeof *gaps, shorter);
  double more_ms = count > 0 ? fmax(gaps[count / 2], 0) / 2 : 0;
  *first += more_ms, *time += more_ms;
}

static int find_cells(const struct contrast_side *side, struct arena *arena, struct cells *ret) {
  unsigned boards = side->tree->groups.board_count;
  size_t count = (size_t)side->stretches * boards;
  ret->weights = arena_array(arena, count, sizeof *ret->weights);
  ret->times = arena_array(arena, count, sizeof *ret->times);
  if (ret->weights == NULL || ret->times == NULL) return -ENOMEM;
  for (unsigned i = 0; i < side->stretches; i++)
    for (unsigned j = 0; j < boards; j++) {
      const struct group_cell *cell = cell_of(side, i, j);
      if (cell != NULL) ret->weights[i * boards + j] = (double)cell->weight;
    }
  for (unsigned j = 0; j < boards; j++) find_times(side, j, ret->times);
  return 0;
}

/* The arrangement of cells into units and strata. */
struct layout {
  unsigned boards, stretches, units, length; /* length: stretches in a unit */
  unsigned stratum[GROUPS_MAX];              /* of each board */
  unsigned strata;
};

/* Computes each unit's correction and the degrees of freedom, from the units' parts of each stratum
   and of the whole. */
static void find_corrections(const struct layout *layout, const double *sums, const double *wholes,
                             double whole, struct contrast_spans *ret) {
  unsigned strata = layout->strata;
  double squares[GROUPS_MAX + 1] = {0}, all = 0, corrected = 0;
  for (unsigned i = 0; i < layout->units; i++)
    for (unsigned j = 0; j < strata; j++)
      squares[j] += wholes[j] > 0 ? pow(sums[i * strata + j] / wholes[j], 2) : 0;
  for (unsigned i = 0; i < layout->units; i++) {
    double sum = 0, of_all = 0, unit = 0;
    for (unsigned j = 0; j < strata; j++) unit += sums[i * strata + j] / whole;
    for (unsigned j = 0; j < strata; j++) {
      double part = wholes[j] > 0 ? sums[i * strata + j] / wholes[j] : 0;
      double weight = pow(sums[i * strata + j] / whole, 2);
      sum += weight * (1 - 2 * part + squares[j]);
      of_all += weight;
    }
    double correction = of_all > 0 ? sum / of_all : 1;
    ret->correction[i] = 1 / sqrt(fmax(correction, 1e-6));
    all += unit * unit;
    corrected += unit * unit * correction;
  }
  ret->df = all > 0 ? fmax(corrected / all / all, 1) : 1;
}

/* Sums up CELLS by unit and stratum. Returns 0 or -ENOMEM. */
static int make_spans(const struct layout *layout, const double *cells, struct arena *arena,
                      struct contrast_spans *ret) {
  unsigned strata = layout->strata, stretch = 0;
  double wholes[GROUPS_MAX + 1] = {0}, whole = 0;
  ret->strata = strata;
  ret->parts = arena_array(arena, (size_t)layout->units * strata, sizeof *ret->parts);
  if (ret->parts == NULL) return -ENOMEM;
  for (unsigned i = 0; i < layout->units; i++)
    for (unsigned j = 0; j < layout->length && stretch < layout->stretches; j++, stretch++)
      for (unsigned k = 0; k < layout->boards; k++) {
        double cell = cells[stretch * layout->boards + k];
        ret->parts[i * strata + layout->stratum[k]] += cell;
        wholes[layout->stratum[k]] += cell;
        whole += cell;
      }
  if (!(whole > 0)) return 0;
  /* The last stratum has no mean of its own: its parts are of the whole. */
  wholes[strata - 1] = whole;
  find_corrections(layout, ret->parts, wholes, whole, ret);
  for (unsigned i = 0; i < layout->units; i++)
    for (unsigned j = 0; j < strata; j++)
      ret->parts[i * strata + j] /= wholes[j] > 0 ? wholes[j] : 1;
  return 0;
}

/* Returns the group of the tree's boards that contains BOARD, a board of the stretches' cells. */
static unsigned board_group(const struct view_tree *tree, unsigned board) {
  const struct groups *boards = &tree->boards;
  uint64_t id = tree->groups.boards[board];
  if (boards->kind == GROUPS_HASHED) id %= boards->modulus;
  unsigned at = 0;
  while (at + 1 < boards->count && boards->group[at].id != id) at++;
  return at;
}

/* Sets RET, for each group of the tree's boards, to the number of equally weighted batches
   equivalent to its own. */
static void count_batches(const struct contrast_side *side, const double *weights,
                          double ret[GROUPS_MAX]) {
  unsigned boards = side->tree->groups.board_count;
  double sums[GROUPS_MAX] = {0}, squares[GROUPS_MAX] = {0}, batch[GROUPS_MAX] = {0};
  for (unsigned i = 0; i < side->stretches; i++) {
    for (unsigned j = 0; j < boards; j++)
      batch[board_group(side->tree, j)] += weights[i * boards + j];
    if (i + 1 < side->stretches && (i + 1) % side->length != 0) continue;
    for (unsigned j = 0; j < GROUPS_MAX; j++) {
      sums[j] += batch[j], squares[j] += batch[j] * batch[j];
      batch[j] = 0;
    }
  }
  for (unsigned j = 0; j < GROUPS_MAX; j++)
    ret[j] = squares[j] > 0 ? sums[j] * sums[j] / squares[j] : 0;
}

/* Sets the strata of SIDE, and in LAYOUT those of the cells' boards. */
static int find_strata(struct contrast_side *side, const double *weights, struct arena *arena,
                       struct layout *layout) {
  const struct view_tree *tree = side->tree;
  unsigned several = tree->boards.kind != GROUPS_NONE && tree->boards.count > 1;
  double batches[GROUPS_MAX];
  count_batches(side, weights, batches);
  for (unsigned i = 0; several && i < tree->boards.count; i++)
    if (batches[i] >= stratum_batches_min) side->stratum[i] = layout->strata++;
  unsigned last = layout->strata++;
  for (unsigned i = 0; i < GROUPS_MAX; i++)
    if (!several || !(batches[i] >= stratum_batches_min)) side->stratum[i] = last;
  for (unsigned i = 0; i < layout->boards; i++)
    layout->stratum[i] = several ? side->stratum[board_group(tree, i)] : last;
  side->strata_wholes = arena_array(arena, layout->strata, sizeof *side->strata_wholes);
  if (side->strata_wholes == NULL) return -ENOMEM;
  for (unsigned i = 0; several && i < tree->boards.count; i++)
    side->strata_wholes[side->stratum[i]] += (double)tree->boards.group[i].weight;
  side->strata_wholes[last] = side->ratio.whole;
  return 0;
}

static double find_covered_s(const struct contrast_side *side, const double *times) {
  unsigned boards = side->tree->groups.board_count;
  double sum_ms = 0;
  for (unsigned i = 0; i < side->stretches; i++) {
    double most_ms = 0;
    for (unsigned j = 0; j < boards; j++) most_ms = fmax(most_ms, times[i * boards + j]);
    sum_ms += most_ms;
  }
  return sum_ms / 1000;
}

/* Joins neighbouring stretches to batches. */
static int find_batches(struct contrast_side *side, struct arena *arena) {
  uint64_t wholes[GROUPS_MAX] = {0};
  struct cells cells;
  if (!is_of_times(side)) return 0;
  sort_stretches(side);
  if (side->stretches == 0) return 0;
  side->length = (side->stretches + CONTRAST_BATCHES_MAX - 1) / CONTRAST_BATCHES_MAX;
  unsigned count = (side->stretches - 1) / side->length + 1;
  for (unsigned i = 0; i < side->stretches; i++)
    wholes[i / side->length] += (uint64_t)side->ratio.wholes[side->order[i]];
  ratio_init(&side->batches, GROUPS_TIMES, count, wholes, side->ratio.trials);
  struct layout layout = {.boards = side->tree->groups.board_count,
                          .stretches = side->stretches,
                          .units = side->stretches,
                          .length = 1};
  int error = find_cells(side, arena, &cells);
  if (error == 0) side->covered_s = find_covered_s(side, cells.times);
  if (error == 0) error = find_strata(side, cells.weights, arena, &layout);
  if (error == 0) error = make_spans(&layout, cells.weights, arena, &side->by_stretch);
  layout.units = count, layout.length = side->length;
  if (error == 0) error = make_spans(&layout, cells.weights, arena, &side->by_batch);
  if (error == 0) error = make_spans(&layout, cells.times, arena, &side->by_time);
  return error;
}

/* Sets each unit's part of all boards: the same for each unit if the caller gives no numbers. */
static void find_boards(struct contrast_side *side, const double boards[GROUPS_MAX]) {
  double all = 0;
  for (unsigned i = 0; i < side->ratio.count; i++) {
    side->boards += side->ratio.wholes[i] > 0;
    all += boards[i];
  }
  for (unsigned i = 0; i < side->ratio.count; i++) {
    double even = side->ratio.wholes[i] > 0 ? 1. / side->boards : 0;
    side->boards_part[i] = all > 0 ? boards[i] / all : even;
    side->boards_squares += side->boards_part[i] * side->boards_part[i];
  }
}

/* Makes one unit of groups with equal ids modulo MODULUS (0: with equal ids). */
static int find_units(struct contrast_side *side, const struct view_tree *tree, uint64_t modulus,
                      struct arena *arena) {
  const struct groups *groups = &tree->groups;
  uint64_t wholes[GROUPS_MAX] = {0};
  double boards[GROUPS_MAX] = {0};
  unsigned count = 0;
  side->tree = tree;
  for (unsigned i = 0; i < groups->count; i++) {
    uint64_t id = modulus > 0 ? groups->group[i].id % modulus : groups->group[i].id;
    unsigned at = 0;
    while (at < count && side->id[at] != id) at++;
    if (at == count) side->id[count++] = id;
    side->unit[i] = at;
    wholes[at] += groups->group[i].weight;
    boards[at] +=
        groups->kind == GROUPS_BOARDS ? groups->group[i].weight > 0 : groups->group[i].boards;
  }
  ratio_init(&side->ratio, groups->kind, count, wholes, evidence_trials(&tree->evidence));
  if (is_of_boards(side)) find_boards(side, boards);
  return find_batches(side, arena);
}

/* Returns the modulus that makes ids of both trees comparable if boards are HASHED on at least one
   side. */
static uint64_t modulus_of(const struct groups *a, const struct groups *b) {
  uint64_t of_a = a->kind == GROUPS_HASHED ? a->modulus : 0;
  uint64_t of_b = b->kind == GROUPS_HASHED ? b->modulus : 0;
  if (a->kind == GROUPS_TIMES || b->kind == GROUPS_TIMES) return 0;
  return of_a == 0 || (of_b != 0 && of_b < of_a) ? of_b : of_a; /* moduli are powers of two */
}

static void find_pairs(struct contrast *contrast) {
  struct contrast_side *a = &contrast->a, *b = &contrast->b;
  if (!contrast_is_of_boards(contrast)) return;
  for (unsigned i = 0; i < a->ratio.count; i++)
    for (unsigned j = 0; j < b->ratio.count; j++) {
      if (a->id[i] != b->id[j]) continue;
      if (!(a->ratio.wholes[i] > 0) || !(b->ratio.wholes[j] > 0)) continue;
      a->paired |= UINT64_C(1) << i;
      b->paired |= UINT64_C(1) << j;
      contrast->pairs++;
    }
}

int contrast_init(struct contrast *contrast, const struct view_tree *a, const struct view_tree *b,
                  struct arena *arena) {
  uint64_t modulus = modulus_of(&a->groups, &b->groups);
  memset(contrast, 0, sizeof *contrast);
  int error = find_units(&contrast->a, a, modulus, arena);
  if (error == 0) error = find_units(&contrast->b, b, modulus, arena);
  if (error != 0) return error;
  find_pairs(contrast);
  contrast->a.df_paired = ratio_df(&contrast->a.ratio, contrast->a.paired);
  contrast->b.df_paired = ratio_df(&contrast->b.ratio, contrast->b.paired);
  contrast->a.df_alone = ratio_df(&contrast->a.ratio, ~contrast->a.paired);
  contrast->b.df_alone = ratio_df(&contrast->b.ratio, ~contrast->b.paired);
  return 0;
}

unsigned contrast_partner(const struct contrast *contrast, unsigned unit) {
  const struct contrast_side *a = &contrast->a, *b = &contrast->b;
  if ((a->paired >> unit & 1) == 0) return GROUPS_MAX;
  unsigned at = 0;
  while (b->id[at] != a->id[unit]) at++;
  return at;
}

double contrast_distance(const struct ratio *ratio, unsigned unit, uint64_t part, double share) {
  if (!ratio->is_grouped || !(ratio->wholes[unit] > 0)) return 0;
  return sqrt(ratio->influence[unit]) * ((double)part / ratio->wholes[unit] - share);
}

double contrast_cpu_distance(const struct contrast_side *side, unsigned unit, uint64_t part,
                             double share) {
  double boards = side->boards_part[unit];
  double correction = 1 - 2 * boards + side->boards_squares;
  if (side->boards < 2 || !(side->ratio.wholes[unit] > 0)) return 0;
  return ((double)part / side->ratio.whole - share * boards) / sqrt(fmax(correction, 1e-6));
}

double contrast_time_distance(const struct contrast_side *side, const struct contrast_spans *spans,
                              unsigned unit, uint64_t part, const double *of_strata) {
  double expected = 0;
  for (unsigned i = 0; i < spans->strata; i++)
    expected += spans->parts[unit * spans->strata + i] * of_strata[i];
  double distance = (double)part - expected;
  if (fabs(distance) <= rounding * expected) return 0; /* rounding would correlate */
  return spans->correction[unit] * distance / side->ratio.whole;
}

static double correlation_of(const struct contrast_neighbours *neighbours, double count) {
  if (!(neighbours->squares > 0) || !(count > 0)) return 0;
  double seen = neighbours->products / neighbours->squares + 1 / count;
  return fmin(fmax(seen, 0), correlation_max);
}

static double inflation_of(double correlation) {
  return (1 + correlation) / (1 - correlation);
}

double contrast_independent(const struct contrast_side *side) {
  if (!is_of_times(side)) return side->ratio.is_grouped ? INFINITY : 0;
  if (!(side->covered_s > 0)) return 0;
  return side->stretches / inflation_of(correlation_of(&side->of_stretches, side->stretches));
}

double contrast_seconds(const struct contrast_side *side) {
  if (!is_of_times(side) || !(side->covered_s > 0)) return 0;
  uint64_t span = side->id[side->order[side->stretches - 1]] - side->id[side->order[0]] + 1;
  return (double)(span * side->tree->groups.length_ms) / 1000 / contrast_independent(side);
}

double contrast_phase_seconds(const struct contrast *contrast) {
  const struct contrast_side *a = &contrast->a, *b = &contrast->b;
  double of_a = is_of_times(a) ? a->covered_s : NAN, of_b = is_of_times(b) ? b->covered_s : NAN;
  return fmin(of_a, of_b) / phases_min;
}

/* A function with phases of its own is more correlated than all functions are on average. Its
   correlation is taken over both sides, assuming that a changed program keeps its phases. */
static double own_correlation(const struct contrast *contrast,
                              const struct contrast_spread *spread) {
  const struct contrast_side *a = &contrast->a, *b = &contrast->b;
  const struct contrast_neighbours own = {spread->a_batches + spread->b_batches,
                                          spread->a_products + spread->b_products};
  double sides = is_of_times(a) + is_of_times(b);
  if (sides == 0) return 0;
  double batches =
      (is_of_times(a) ? a->batches.count : 0.) + (is_of_times(b) ? b->batches.count : 0.);
  return correlation_of(&own, batches / sides);
}

static double batches_inflation(const struct contrast_side *side, double own) {
  return inflation_of(fmax(correlation_of(&side->of_batches, side->batches.count), own));
}

static double times_df(const struct contrast_side *side) {
  return fmax(fmin(side->batches.df, side->by_batch.df), 1);
}

static double times_variance(const struct contrast_side *side, const struct times_spread *spread) {
  double fine = inflation_of(correlation_of(&side->of_stretches, side->stretches));
  return (spread->stretches * fine + spread->batches * batches_inflation(side, spread->own)) / 2;
}

/* Returns the degrees of freedom of the mean of both variances. The first variance is as certain as
   the number of independent stretches allows. Phases longer than a stretch may be missed in a short
   run, so the degrees of freedom do not exceed the seconds covered. */
static double mean_df(const struct contrast_side *side) {
  double batches = fmax(fmin(times_df(side), side->covered_s - 1), 1);
  double stretches = fmax(fmin(contrast_independent(side), side->covered_s) - 1, 1);
  return 4 / (1 / stretches + 1 / batches + 2 / fmax(stretches, batches));
}

double contrast_independent_of(const struct contrast *contrast,
                               const struct contrast_spread *spread, double harmless) {
  const struct contrast_side *a = &contrast->a, *b = &contrast->b;
  bool are_times[] = {is_of_times(a), is_of_times(b)};
  double fine = (are_times[0] ? spread->a : 0) + (are_times[1] ? spread->b : 0);
  double coarse =
      (spread->a_batches + spread->b_batches) * inflation_of(own_correlation(contrast, spread));
  double least = INFINITY;
  fine = fmax(fine, harmless);
  if (are_times[0]) least = fmin(least, a->stretches);
  if (are_times[1]) least = fmin(least, b->stretches);
  return coarse > fine ? least * fine / coarse : least;
}

/* Adds an independent part of the variance. DF is a sum until the last part is added. */
static void add(struct contrast_error *error, double variance, double df) {
  if (!(variance > 0)) return;
  error->variance += variance;
  error->df += variance * variance / df;
}

static struct contrast_error ended(struct contrast_error error) {
  error.df = error.df > 0 ? error.variance * error.variance / error.df : INFINITY;
  return error;
}

/* Returns the factor by which units of SIDE also stand for the one board of OTHER, which is treated
   as one more of them. */
static double kind_factor(const struct contrast_side *side, const struct contrast_side *other) {
  return is_of_boards(side) && !is_of_boards(other) ? 1 + 1 / side->ratio.squares : 1;
}

/* Adds the error of the share of SIDE, times FACTOR. */
static void add_shares(struct contrast_error *error, const struct contrast_side *side,
                       double factor, const struct times_spread *spread) {
  if (is_of_times(side))
    add(error, factor * times_variance(side, spread), mean_df(side));
  else if (side->ratio.is_grouped)
    add(error, factor * spread->stretches, side->df_alone);
}

struct contrast_error contrast_shares_error(const struct contrast *contrast,
                                            const struct contrast_spread *spread) {
  const struct contrast_side *a = &contrast->a, *b = &contrast->b;
  struct contrast_error error = {0, 0};
  add(&error, spread->pairs, fmin(a->df_paired, b->df_paired));
  double own = own_correlation(contrast, spread);
  const struct times_spread of_a = {spread->a, spread->a_batches, own};
  const struct times_spread of_b = {spread->b, spread->b_batches, own};
  add_shares(&error, a, kind_factor(a, b), &of_a);
  add_shares(&error, b, kind_factor(b, a), &of_b);
  return ended(error);
}

/* Adds the error of the CPU time of SIDE. A run has no rate: its duration is irrelevant, and its
   whole is known. */
static void add_cpu(struct contrast_error *error, const struct contrast *contrast,
                    const struct contrast_side *side, const struct times_spread *spread,
                    double cpu_spread) {
  bool is_a = side == &contrast->a;
  double scale = is_a ? 1 : contrast->scale;
  if (is_of_times(side) && contrast->is_of_runs)
    add_shares(error, side, scale * scale, spread);
  else if (is_of_times(side))
    add(error, cpu_spread * batches_inflation(side, spread->own), times_df(side));
  else if (side->ratio.is_grouped)
    add(error, kind_factor(side, is_a ? &contrast->b : &contrast->a) * cpu_spread, side->df_alone);
}

struct contrast_error contrast_cpu_error(const struct contrast *contrast,
                                         const struct contrast_spread *spread) {
  double own = own_correlation(contrast, spread);
  const struct times_spread of_a = {spread->a, spread->a_batches, own};
  const struct times_spread of_b = {spread->b, spread->b_batches, own};
  struct contrast_error error = {0, 0};
  add(&error, spread->cpu_pairs, fmin(contrast->a.df_paired, contrast->b.df_paired));
  add_cpu(&error, contrast, &contrast->a, &of_a, spread->cpu_a);
  add_cpu(&error, contrast, &contrast->b, &of_b, spread->cpu_b);
  return ended(error);
}

/* Returns the distance of UNIT of SIDE, a board or a batch, from its mean part of all CPU time. */
static double whole_distance(const struct contrast_side *side, unsigned unit) {
  if (!is_of_times(side))
    return contrast_cpu_distance(side, unit, (uint64_t)side->ratio.wholes[unit], 1);
  return contrast_time_distance(side, &side->by_time, unit, (uint64_t)side->batches.wholes[unit],
                                side->strata_wholes);
}

static void add_whole(struct contrast_error *error, const struct contrast *contrast,
                      const struct contrast_side *side) {
  const struct contrast_side *other = side == &contrast->a ? &contrast->b : &contrast->a;
  bool is_times = is_of_times(side);
  unsigned count = is_times ? side->batches.count : side->ratio.count;
  struct contrast_neighbours neighbours = {0, 0};
  double before = 0;
  if (is_times && contrast->is_of_runs) return;
  for (unsigned i = 0; i < count; i++) {
    if (side->paired >> i & 1) continue;
    double distance = whole_distance(side, i);
    neighbours.squares += distance * distance;
    neighbours.products += distance * before;
    before = distance;
  }
  if (is_times)
    add(error, neighbours.squares * inflation_of(correlation_of(&neighbours, count)),
        times_df(side));
  else
    add(error, kind_factor(side, other) * neighbours.squares, side->df_alone);
}

struct contrast_error contrast_whole_error(const struct contrast *contrast) {
  const struct contrast_side *a = &contrast->a, *b = &contrast->b;
  struct contrast_error error = {0, 0};
  double pairs = 0;
  for (unsigned i = 0; i < a->ratio.count; i++) {
    unsigned partner = contrast_partner(contrast, i);
    if (partner < GROUPS_MAX) pairs += pow(whole_distance(b, partner) - whole_distance(a, i), 2);
  }
  add(&error, pairs, fmin(a->df_paired, b->df_paired));
  add_whole(&error, contrast, a);
  add_whole(&error, contrast, b);
  return ended(error);
}
