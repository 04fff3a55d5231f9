/* SPDX-License-Identifier: Apache-2.0 */
/* In a difference a function is its name and module, whatever its source file, because it may
   have moved. Only if one side has several functions of that name (static functions of two
   files) does the file distinguish them, as in the table of one tree. Functions whose file is
   unknown are matched last, so that rows do not depend on the order of functions.

   Modules of two names that are one program (module_pairs.c) are one module here. A function
   without a name is identified by an address of one build. If the trees have several builds of a
   module, under one file name or two, that function is apart: it matches nothing of another
   build, where its name is unknown. */
#include "diff_rows.h"

#include "contrast.h"
#include "function_weights.h"

#include "common/arena.h"
#include "common/cutoff.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { SIDES = 2 };

struct matching {
  struct arena *arena;
  struct diff_rows *rows;
  const struct view_tree *trees[SIDES];
  bool *is_seen[SIDES];     /* of each function of the tree: it has weight and is no pseudo row */
  uint32_t *name_of[SIDES]; /* of each function of the tree: in rows->names */
  bool *is_several;         /* of each name: a side has several functions of it */
  uint32_t *row_of;         /* of each of rows->functions */
};

static int begin(struct matching *matching, struct arena *arena) {
  size_t room = 1;
  for (unsigned side = 0; side < SIDES; side++) {
    const struct view_tree *tree = matching->trees[side];
    bool *is_seen = arena_array(arena, tree->function_count, sizeof *is_seen);
    uint32_t *name_of = arena_array(arena, tree->function_count, sizeof *name_of);
    if (is_seen == NULL || name_of == NULL) return -ENOMEM;
    for (uint32_t i = 1; i < tree->node_count; i++) {
      const struct view_node *node = &tree->nodes[i];
      bool is_end = tree->functions[node->function].end != STACK_UNTOLD;
      is_seen[node->function] |= node->self_weight > 0 || (node->total_weight > 0 && !is_end);
    }
    matching->is_seen[side] = is_seen;
    matching->name_of[side] = name_of;
    room += tree->function_count;
  }
  matching->is_several = arena_array(arena, room, sizeof *matching->is_several);
  matching->row_of = arena_array(arena, room, sizeof *matching->row_of);
  matching->rows->rows = arena_array(arena, room, sizeof *matching->rows->rows);
  if (!matching->is_several || !matching->row_of || !matching->rows->rows) return -ENOMEM;
  for (size_t i = 0; i < room; i++) matching->row_of[i] = DIFF_ROW_NONE;
  return 0;
}

/* Sets RET to function AT of SIDE as the rows have it. */
static int function_at(const struct matching *matching, unsigned side, uint32_t at,
                       struct view_function *ret) {
  struct view_function function = matching->trees[side]->functions[at];
  const char *shown = module_pairs_shown(&matching->rows->pairs, function.module);
  size_t len = strlen(function.module);
  bool is_nameless = strncmp(function.name, function.module, len) == 0 && function.name[len] == '+';
  bool has_others =
      function.of != NULL && module_builds_are_several(&matching->rows->builds, shown);
  if (has_others && !function.is_apart)
    function.name = module_builds_told(function.of, function.name, matching->arena);
  if (has_others || (shown != function.module && is_nameless)) function.is_apart = true;
  function.module = shown;
  *ret = function;
  return function.name != NULL ? 0 : -ENOMEM;
}

/* Finds the names of the functions of SIDE, and the names that several functions share. SEEN:
   the last side that had a name. */
static int find_names(struct matching *matching, unsigned side, uint8_t *seen) {
  const struct view_tree *tree = matching->trees[side];
  for (uint32_t i = 1; i < tree->function_count; i++) {
    struct view_function function;
    uint32_t *name = &matching->name_of[side][i];
    if (cutoff_is_at(tree->cutoff, i)) return -ETIMEDOUT;
    if (!matching->is_seen[side][i]) continue;
    int error = function_at(matching, side, i, &function);
    if (error != 0) return error;
    function.file = NULL;
    error = function_table_intern(&matching->rows->names, &function, true, name);
    if (error != 0) return error;
    matching->is_several[*name] |= seen[*name] == side + 1;
    seen[*name] = (uint8_t)(side + 1);
  }
  return 0;
}

/* Adds the builds of TREE's modules, under the rows' module names. */
static int find_builds(struct diff_rows *rows, const struct view_tree *tree) {
  const struct view_module *ignored;
  int error = 0;
  for (uint32_t i = 0; i < tree->module_count && error == 0; i++) {
    const struct view_module *module = tree->modules[i];
    const struct span id = span_of(module->build.id, module->build.id_len);
    error = module_builds_find(&rows->builds, module_pairs_shown(&rows->pairs, module->name), id,
                               &ignored);
  }
  return error;
}

/* Finds the row of function AT of SIDE, or adds it. */
static int match(struct matching *matching, unsigned side, uint32_t at, uint32_t *ret) {
  struct view_function function;
  struct diff_rows *rows = matching->rows;
  uint32_t number;
  int error = function_at(matching, side, at, &function);
  if (error != 0) return error;
  if (!matching->is_several[matching->name_of[side][at]]) function.file = NULL;
  error = function_table_intern(&rows->functions, &function, true, &number);
  if (error != 0) return error;
  uint32_t *row = &matching->row_of[number];
  if (*row == DIFF_ROW_NONE) {
    *row = rows->count++;
    rows->rows[*row] = (struct view_diff_row){.name = function.name,
                                              .module = function.module,
                                              .file = function.file,
                                              .is_apart = function.is_apart};
  }
  *ret = *row;
  return 0;
}

static int match_all(struct matching *matching) {
  for (unsigned round = 0; round < 2; round++)
    for (unsigned side = 0; side < SIDES; side++) {
      const struct view_tree *tree = matching->trees[side];
      for (uint32_t i = 1; i < tree->function_count; i++) {
        if (cutoff_is_at(tree->cutoff, i)) return -ETIMEDOUT;
        bool is_turn = (tree->functions[i].file == NULL) == (round == 1);
        if (!is_turn || !matching->is_seen[side][i]) continue;
        int error = match(matching, side, i, &matching->rows->sides[side].row_of[i]);
        if (error != 0) return error;
      }
    }
  return 0;
}

/* Whether FUNCTION has a name and is no pseudo-function. */
static bool is_named(const struct view_function *function) {
  const char *quality = function->quality;
  return quality != NULL && strcmp(quality, "none") != 0 && strcmp(quality, "bounds") != 0;
}

static void add_named(const struct view_function *function, wide_sum weight,
                      struct view_named *named) {
  if (!is_named(function)) return;
  *(strcmp(function->quality, "dwarf") == 0 ? &named->by_debug : &named->by_others) += weight;
}

int diff_rows_beneath(const struct diff_rows *rows, unsigned side, const struct view_tree *tree,
                      const bool *is_counted, wide_sum *ret) {
  const struct diff_side *of = &rows->sides[side];
  for (uint32_t i = 1; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    uint32_t row = of->row_of[node->function];
    if (cutoff_is_at(tree->cutoff, i)) return -ETIMEDOUT;
    if (node->self_weight == 0 || row == DIFF_ROW_NONE || !is_counted[row]) continue;
    if (!is_named(&tree->functions[node->function])) continue;
    for (uint32_t at = i; at != 0; at = tree->nodes[at].parent) {
      uint32_t above = of->row_of[tree->nodes[at].function];
      if (above == DIFF_ROW_NONE || !of->is_outermost[at]) continue;
      if (strcmp(rows->rows[above].module, rows->rows[row].module) == 0)
        ret[above] += node->self_weight;
    }
  }
  return 0;
}

static void add_self(struct diff_rows *rows, unsigned side, const struct view_tree *tree,
                     uint32_t at) {
  const struct view_node *node = &tree->nodes[at];
  struct view_diff_row *row = &rows->rows[rows->sides[side].row_of[node->function]];
  *(side == 0 ? &row->a_weight : &row->b_weight) += node->self_weight;
  add_named(&tree->functions[node->function], node->self_weight,
            side == 0 ? &row->a_named : &row->b_named);
}

/* Sums the weights of the rows on SIDE, each stack once. */
static int add_weights(struct diff_rows *rows, unsigned side, const struct view_tree *tree,
                       struct arena *arena) {
  struct diff_side *of = &rows->sides[side];
  bool *is_in_cut = arena_array(arena, tree->node_count, sizeof *is_in_cut);
  of->is_outermost = arena_array(arena, tree->node_count, sizeof *of->is_outermost);
  of->cut = arena_array(arena, rows->count, sizeof *of->cut);
  if (!is_in_cut || !of->is_outermost || !of->cut) return -ENOMEM;
  uint32_t *class_of = arena_array(arena, tree->function_count, sizeof *class_of);
  if (class_of == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < tree->function_count; i++)
    class_of[i] = of->row_of[i] != DIFF_ROW_NONE ? of->row_of[i] : rows->count;
  int error = function_weights_outermost(tree, class_of, rows->count + 1, arena, of->is_outermost);
  for (uint32_t i = 1; i < tree->node_count && error == 0; i++) {
    const struct view_node *node = &tree->nodes[i];
    uint32_t row = of->row_of[node->function];
    is_in_cut[i] = is_in_cut[node->parent] || tree->functions[node->function].end != STACK_UNTOLD;
    if (row == DIFF_ROW_NONE) continue;
    if (node->self_weight > 0) add_self(rows, side, tree, i);
    if (!of->is_outermost[i]) continue;
    *(side == 0 ? &rows->rows[row].a_total : &rows->rows[row].b_total) += node->total_weight;
    if (is_in_cut[i]) of->cut[row] += node->total_weight;
  }
  return error;
}

static uint32_t *no_rows(const struct view_tree *tree, struct arena *arena) {
  uint32_t *row_of = arena_array(arena, tree->function_count, sizeof *row_of);
  for (uint32_t i = 0; row_of != NULL && i < tree->function_count; i++) row_of[i] = DIFF_ROW_NONE;
  return row_of;
}

int diff_rows_init(struct diff_rows *rows, const struct view_tree *a, const struct view_tree *b,
                   struct arena *arena) {
  *rows =
      (struct diff_rows){.sides = {{.row_of = no_rows(a, arena)}, {.row_of = no_rows(b, arena)}}};
  struct matching matching = {.arena = arena, .rows = rows, .trees = {a, b}};
  uint8_t *seen = arena_array(arena, (size_t)a->function_count + b->function_count + 1, 1);
  int error =
      !rows->sides[0].row_of || !rows->sides[1].row_of || !seen ? -ENOMEM : begin(&matching, arena);
  if (error == 0) error = module_pairs_init(&rows->pairs, a, b, arena);
  if (error == 0) error = function_table_init(&rows->names, arena);
  module_builds_init(&rows->builds, arena, rows->names.seed);
  if (error == 0) error = find_builds(rows, a);
  if (error == 0) error = find_builds(rows, b);
  if (error == 0) error = function_table_init(&rows->functions, arena);
  for (unsigned side = 0; side < SIDES && error == 0; side++)
    error = find_names(&matching, side, seen);
  if (error == 0) error = match_all(&matching);
  for (unsigned side = 0; side < SIDES && error == 0; side++)
    error = add_weights(rows, side, matching.trees[side], arena);
  return error;
}

void diff_rows_fini(struct diff_rows *rows) {
  module_pairs_fini(&rows->pairs);
  module_builds_fini(&rows->builds);
  function_table_fini(&rows->names);
  function_table_fini(&rows->functions);
}

/* Weights of the rows of one side in one unit. */
struct unit_weights {
  struct diff_rows *rows;
  unsigned side;
  struct contrast_side *contrast;
  struct function_weights weights;
  uint64_t *parts[VIEW_OF_COUNT]; /* of each row */
  double *strata[VIEW_OF_COUNT];  /* of stretches of time: of each row in each stratum */
  double whole;                   /* deviation of the unit's whole CPU time from the mean */
  double scale;                   /* CPU time of b per unit, as a part of that of a */
};

static int unit_weights_init(struct unit_weights *unit, struct diff_rows *rows, unsigned side,
                             struct contrast_side *contrast, struct arena *arena) {
  *unit = (struct unit_weights){.rows = rows, .side = side, .contrast = contrast};
  for (unsigned of = 0; of < VIEW_OF_COUNT; of++) {
    unit->parts[of] = arena_array(arena, rows->count, sizeof *unit->parts[of]);
    if (unit->parts[of] == NULL) return -ENOMEM;
  }
  return function_weights_init(&unit->weights, contrast->tree, rows->sides[side].is_outermost,
                               arena);
}

/* Sums by row the weights that were added. */
static void end_fill(struct unit_weights *unit) {
  const uint32_t *row_of = unit->rows->sides[unit->side].row_of;
  for (unsigned of = 0; of < VIEW_OF_COUNT; of++)
    memset(unit->parts[of], 0, unit->rows->count * sizeof *unit->parts[of]);
  for (uint32_t i = 1; i < unit->contrast->tree->function_count; i++) {
    if (row_of[i] == DIFF_ROW_NONE) continue;
    unit->parts[VIEW_SELF][row_of[i]] += unit->weights.self[i];
    unit->parts[VIEW_TOTAL][row_of[i]] += unit->weights.total[i];
  }
}

static void fill(struct unit_weights *unit, unsigned at) {
  const struct view_tree *tree = unit->contrast->tree;
  function_weights_clear(&unit->weights);
  for (unsigned i = 0; i < tree->groups.count; i++)
    if (unit->contrast->unit[i] == at) function_weights_add(&unit->weights, &tree->groups.group[i]);
  end_fill(unit);
}

/* Sums the rows' weight by stratum; the last stratum is the sum of all. */
static int fill_strata(struct unit_weights *unit, struct arena *arena) {
  const struct contrast_side *side = unit->contrast;
  const struct groups *boards = &side->tree->boards;
  unsigned strata = side->by_batch.strata;
  for (unsigned of = 0; of < VIEW_OF_COUNT; of++) {
    unit->strata[of] =
        arena_array(arena, (size_t)unit->rows->count * strata, sizeof *unit->strata[of]);
    if (unit->strata[of] == NULL) return -ENOMEM;
  }
  for (uint32_t i = 0; i < unit->rows->count; i++) {
    const struct view_diff_row *row = &unit->rows->rows[i];
    unit->strata[VIEW_SELF][i * strata + strata - 1] =
        (double)(unit->side == 0 ? row->a_weight : row->b_weight);
    unit->strata[VIEW_TOTAL][i * strata + strata - 1] =
        (double)(unit->side == 0 ? row->a_total : row->b_total);
  }
  for (unsigned j = 0; j < boards->count; j++) {
    if (side->stratum[j] + 1 >= strata) continue;
    if (cutoff_is_past(side->tree->cutoff)) return -ETIMEDOUT;
    function_weights_clear(&unit->weights);
    function_weights_add(&unit->weights, &boards->group[j]);
    end_fill(unit);
    for (unsigned of = 0; of < VIEW_OF_COUNT; of++)
      for (uint32_t i = 0; i < unit->rows->count; i++)
        unit->strata[of][i * strata + side->stratum[j]] += (double)unit->parts[of][i];
  }
  return 0;
}

/* The share of row AT on the side of UNIT. */
static double share_of(const struct unit_weights *unit, unsigned of, uint32_t at) {
  const struct view_diff_row *row = &unit->rows->rows[at];
  const struct view_change *change = of == VIEW_SELF ? &row->self : &row->total;
  return unit->side == 0 ? change->a : change->b;
}

static double square(double x) {
  return x * x;
}

/* The deviation of row AT in CPU time, as a part of all CPU time of side a; OWN: as a part of
   its own side's. The error of a's CPU time is included. */
static double cpu_distance(const struct unit_weights *unit, unsigned of, uint32_t at, double own) {
  const struct view_diff_row *row = &unit->rows->rows[at];
  const struct view_change *change = of == VIEW_SELF ? &row->self : &row->total;
  if (unit->side == 1) return unit->scale * own;
  return own + (unit->scale * change->b - change->a) * unit->whole;
}

/* Sums board AT. */
static void fill_board(struct unit_weights *unit, unsigned at) {
  const struct contrast_side *side = unit->contrast;
  fill(unit, at);
  unit->whole = contrast_cpu_distance(side, at, (uint64_t)side->ratio.wholes[at], 1);
}

static double board_cpu_distance(const struct unit_weights *unit, unsigned of, uint32_t at,
                                 unsigned board) {
  double own =
      contrast_cpu_distance(unit->contrast, board, unit->parts[of][at], share_of(unit, of, at));
  return cpu_distance(unit, of, at, own);
}

/* Boards on both sides. */
static int add_pairs(struct unit_weights sides[SIDES], const struct contrast *contrast) {
  struct diff_rows *rows = sides[0].rows;
  for (unsigned unit = 0; unit < contrast->a.ratio.count; unit++) {
    unsigned partner = contrast_partner(contrast, unit);
    if (partner == GROUPS_MAX) continue;
    if (cutoff_is_past(contrast->a.tree->cutoff)) return -ETIMEDOUT;
    fill_board(&sides[0], unit);
    fill_board(&sides[1], partner);
    for (unsigned of = 0; of < VIEW_OF_COUNT; of++)
      for (uint32_t i = 0; i < rows->count; i++) {
        double a = share_of(&sides[0], of, i), b = share_of(&sides[1], of, i);
        uint64_t of_a = sides[0].parts[of][i], of_b = sides[1].parts[of][i];
        struct contrast_spread *spread = &rows->spreads[of][i];
        spread->pairs += square(contrast_distance(&contrast->b.ratio, partner, of_b, b) -
                                contrast_distance(&contrast->a.ratio, unit, of_a, a));
        spread->cpu_pairs += square(board_cpu_distance(&sides[1], of, i, partner) -
                                    board_cpu_distance(&sides[0], of, i, unit));
      }
  }
  return 0;
}

/* Boards on one side only. */
static int add_alone(struct unit_weights *unit) {
  const struct contrast_side *side = unit->contrast;
  struct diff_rows *rows = unit->rows;
  for (unsigned at = 0; at < side->ratio.count; at++) {
    if (side->paired >> at & 1) continue;
    if (cutoff_is_past(side->tree->cutoff)) return -ETIMEDOUT;
    fill_board(unit, at);
    for (unsigned of = 0; of < VIEW_OF_COUNT; of++)
      for (uint32_t i = 0; i < rows->count; i++) {
        double share = share_of(unit, of, i);
        struct contrast_spread *spread = &rows->spreads[of][i];
        uint64_t part = unit->parts[of][i];
        *(unit->side == 0 ? &spread->a : &spread->b) +=
            square(contrast_distance(&side->ratio, at, part, share));
        *(unit->side == 0 ? &spread->cpu_a : &spread->cpu_b) +=
            square(board_cpu_distance(unit, of, i, at));
      }
  }
  return 0;
}

/* The previous stretch and batch, for the correlation of neighbours. */
struct walk_back {
  double *stretch;                 /* each row's deviation in the previous stretch, of self
                                      weights */
  double *batch[VIEW_OF_COUNT];    /* the same in the previous batch */
  uint64_t *joined[VIEW_OF_COUNT]; /* each row's weight in the batch so far */
};

static int walk_back_init(struct walk_back *back, uint32_t count, struct arena *arena) {
  back->stretch = arena_array(arena, count, sizeof *back->stretch);
  bool has_all = back->stretch != NULL;
  for (unsigned of = 0; of < VIEW_OF_COUNT; of++) {
    back->batch[of] = arena_array(arena, count, sizeof *back->batch[of]);
    back->joined[of] = arena_array(arena, count, sizeof *back->joined[of]);
    has_all &= back->batch[of] != NULL && back->joined[of] != NULL;
  }
  return has_all ? 0 : -ENOMEM;
}

static void note(struct contrast_neighbours *neighbours, double distance, double *before) {
  neighbours->squares += square(distance);
  neighbours->products += distance * *before;
  *before = distance;
}

static void end_batch(struct unit_weights *unit, struct walk_back *back, unsigned batch) {
  struct contrast_side *side = unit->contrast;
  unit->whole = contrast_time_distance(side, &side->by_time, batch,
                                       (uint64_t)side->batches.wholes[batch], side->strata_wholes);
  for (unsigned of = 0; of < VIEW_OF_COUNT; of++)
    for (uint32_t i = 0; i < unit->rows->count; i++) {
      struct contrast_spread *spread = &unit->rows->spreads[of][i];
      const double *strata = &unit->strata[of][i * side->by_batch.strata];
      uint64_t part = back->joined[of][i];
      double distance = contrast_time_distance(side, &side->by_batch, batch, part, strata);
      double cpu = contrast_time_distance(side, &side->by_time, batch, part, strata);
      *(unit->side == 0 ? &spread->a_batches : &spread->b_batches) += square(distance);
      *(unit->side == 0 ? &spread->cpu_a : &spread->cpu_b) +=
          square(cpu_distance(unit, of, i, cpu));
      *(unit->side == 0 ? &spread->a_products : &spread->b_products) +=
          distance * back->batch[of][i];
      double before = back->batch[of][i];
      if (of == VIEW_SELF) note(&side->of_batches, distance, &before);
      back->batch[of][i] = distance;
      back->joined[of][i] = 0;
    }
}

/* Stretches of time, in order. */
static int add_times(struct unit_weights *unit, struct walk_back *back) {
  struct contrast_side *side = unit->contrast;
  for (unsigned at = 0; at < side->stretches; at++) {
    if (cutoff_is_past(side->tree->cutoff)) return -ETIMEDOUT;
    fill(unit, side->order[at]);
    for (unsigned of = 0; of < VIEW_OF_COUNT; of++)
      for (uint32_t i = 0; i < unit->rows->count; i++) {
        struct contrast_spread *spread = &unit->rows->spreads[of][i];
        const double *strata = &unit->strata[of][i * side->by_stretch.strata];
        uint64_t part = unit->parts[of][i];
        double distance = contrast_time_distance(side, &side->by_stretch, at, part, strata);
        *(unit->side == 0 ? &spread->a : &spread->b) += square(distance);
        if (of == VIEW_SELF) note(&side->of_stretches, distance, &back->stretch[i]);
        back->joined[of][i] += part;
      }
    if (at + 1 == side->stretches || (at + 1) % side->length == 0)
      end_batch(unit, back, at / side->length);
  }
  return 0;
}

int diff_rows_spread(struct diff_rows *rows, struct contrast *contrast, struct arena *arena) {
  struct unit_weights units[SIDES];
  struct contrast_side *const sides[SIDES] = {&contrast->a, &contrast->b};
  for (unsigned of = 0; of < VIEW_OF_COUNT; of++) {
    rows->spreads[of] = arena_array(arena, rows->count, sizeof *rows->spreads[of]);
    if (rows->spreads[of] == NULL) return -ENOMEM;
  }
  for (unsigned i = 0; i < SIDES; i++)
    if (unit_weights_init(&units[i], rows, i, sides[i], arena) != 0) return -ENOMEM;
  units[0].scale = units[1].scale = contrast->scale;
  int error = add_pairs(units, contrast);
  for (unsigned i = 0; i < SIDES && error == 0; i++) {
    struct walk_back back;
    if (sides[i]->stretches == 0) {
      error = add_alone(&units[i]);
      continue;
    }
    error = walk_back_init(&back, rows->count, arena);
    if (error == 0) error = fill_strata(&units[i], arena);
    if (error == 0) error = add_times(&units[i], &back);
  }
  return error;
}
