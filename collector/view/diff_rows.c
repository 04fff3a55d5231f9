/* SPDX-License-Identifier: Apache-2.0 */
/* To the reader of a difference a function is its name and module, whatever file of the source it
   is from: it may have moved.  Only where a side itself has several of that name (static functions
   of two files) the file tells them apart, as in the table of one tree.  Those whose file is not
   known are matched last, so that rows do not depend on the order of functions.

   Modules of two names that are one program (module_pairs.c) are one here.  What has no name is
   known by an address of one build.  Where the trees have several builds of a module, under one
   file name or two, it is apart: it matches nothing of another build, and nobody knows what it is
   called there. */
#include "diff_rows.h"

#include "contrast.h"

#include "common/arena.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { SIDES = 2 };

struct matching {
  struct arena *arena;
  struct diff_rows *rows;
  const struct view_tree *trees[SIDES];
  bool *has_self[SIDES];    /* of each function of the tree */
  uint32_t *name_of[SIDES]; /* of each function of the tree: in rows->names */
  bool *is_several;         /* of each name: a side has several functions of it */
  uint32_t *row_of;         /* of each of rows->functions */
};

static int begin(struct matching *matching, struct arena *arena) {
  size_t room = 1;
  for (unsigned side = 0; side < SIDES; side++) {
    const struct view_tree *tree = matching->trees[side];
    bool *has_self = arena_array(arena, tree->function_count, sizeof *has_self);
    uint32_t *name_of = arena_array(arena, tree->function_count, sizeof *name_of);
    if (has_self == NULL || name_of == NULL) return -ENOMEM;
    for (uint32_t i = 1; i < tree->node_count; i++)
      has_self[tree->nodes[i].function] |= tree->nodes[i].self_weight > 0;
    matching->has_self[side] = has_self;
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

/* Finds the names of the functions of SIDE, and which of them are several's.  SEEN: the last side
   that had a name. */
static int find_names(struct matching *matching, unsigned side, uint8_t *seen) {
  const struct view_tree *tree = matching->trees[side];
  for (uint32_t i = 1; i < tree->function_count; i++) {
    struct view_function function;
    uint32_t *name = &matching->name_of[side][i];
    if (!matching->has_self[side][i]) continue;
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

/* The builds of both trees' modules, as the rows call these. */
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

static int match_all(struct matching *matching, uint32_t *const of[SIDES]) {
  for (unsigned round = 0; round < 2; round++)
    for (unsigned side = 0; side < SIDES; side++) {
      const struct view_tree *tree = matching->trees[side];
      for (uint32_t i = 1; i < tree->function_count; i++) {
        bool is_turn = (tree->functions[i].file == NULL) == (round == 1);
        if (!is_turn || !matching->has_self[side][i]) continue;
        int error = match(matching, side, i, &of[side][i]);
        if (error != 0) return error;
      }
    }
  return 0;
}

/* What has no name, and what is no function, is named by nobody. */
static void add_named(const struct view_function *function, uint64_t weight,
                      struct view_named *named) {
  const char *quality = function->quality;
  if (quality == NULL || strcmp(quality, "none") == 0 || strcmp(quality, "bounds") == 0) return;
  *(strcmp(quality, "dwarf") == 0 ? &named->by_debug : &named->by_others) += weight;
}

static void add_weights(struct diff_rows *rows, const struct view_tree *const trees[SIDES]) {
  for (unsigned side = 0; side < SIDES; side++) {
    const struct view_tree *tree = trees[side];
    const uint32_t *row_of = side == 0 ? rows->of_a : rows->of_b;
    for (uint32_t i = 1; i < tree->node_count; i++) {
      const struct view_node *node = &tree->nodes[i];
      if (node->self_weight == 0) continue;
      struct view_diff_row *row = &rows->rows[row_of[node->function]];
      *(side == 0 ? &row->a_weight : &row->b_weight) += node->self_weight;
      add_named(&tree->functions[node->function], node->self_weight,
                side == 0 ? &row->a_named : &row->b_named);
    }
  }
}

static uint32_t *no_rows(const struct view_tree *tree, struct arena *arena) {
  uint32_t *row_of = arena_array(arena, tree->function_count, sizeof *row_of);
  for (uint32_t i = 0; row_of != NULL && i < tree->function_count; i++) row_of[i] = DIFF_ROW_NONE;
  return row_of;
}

int diff_rows_init(struct diff_rows *rows, const struct view_tree *a, const struct view_tree *b,
                   struct arena *arena) {
  *rows = (struct diff_rows){.of_a = no_rows(a, arena), .of_b = no_rows(b, arena)};
  struct matching matching = {.arena = arena, .rows = rows, .trees = {a, b}};
  uint8_t *seen = arena_array(arena, (size_t)a->function_count + b->function_count + 1, 1);
  int error = !rows->of_a || !rows->of_b || !seen ? -ENOMEM : begin(&matching, arena);
  if (error == 0) error = module_pairs_init(&rows->pairs, a, b, arena);
  if (error == 0) error = function_table_init(&rows->names, arena);
  module_builds_init(&rows->builds, arena, rows->names.seed);
  if (error == 0) error = find_builds(rows, a);
  if (error == 0) error = find_builds(rows, b);
  if (error == 0) error = function_table_init(&rows->functions, arena);
  for (unsigned side = 0; side < SIDES && error == 0; side++)
    error = find_names(&matching, side, seen);
  if (error == 0) error = match_all(&matching, (uint32_t *const[SIDES]){rows->of_a, rows->of_b});
  if (error == 0) add_weights(rows, matching.trees);
  return error;
}

void diff_rows_fini(struct diff_rows *rows) {
  module_pairs_fini(&rows->pairs);
  module_builds_fini(&rows->builds);
  function_table_fini(&rows->names);
  function_table_fini(&rows->functions);
}

static void add_group(const struct view_tree *tree, const struct group *group,
                      const uint32_t *row_of, uint64_t *parts) {
  for (uint32_t at = 0; at < group->room; at++) {
    const uint64_t *chunk = group->chunks[at];
    const struct view_node *nodes = &tree->nodes[at * GROUPS_CHUNK_KEYS];
    for (uint32_t i = 0; chunk != NULL && i < GROUPS_CHUNK_KEYS; i++) {
      uint32_t row = chunk[i] > 0 ? row_of[nodes[i].function] : DIFF_ROW_NONE;
      if (row != DIFF_ROW_NONE) parts[row] += chunk[i];
    }
  }
}

/* Sets PARTS to what the rows hold in UNIT of SIDE. */
static void fill(const struct diff_rows *rows, const struct contrast_side *side,
                 const uint32_t *row_of, unsigned unit, uint64_t *parts) {
  const struct view_tree *tree = side->tree;
  memset(parts, 0, rows->count * sizeof *parts);
  for (unsigned i = 0; i < tree->groups.count; i++) {
    if (side->unit[i] == unit) add_group(tree, &tree->groups.group[i], row_of, parts);
  }
}

/* The units of A, with those of B that they are paired with. */
static void add_units_of_a(const struct diff_rows *rows, const struct contrast *contrast,
                           uint64_t *of_a, uint64_t *of_b, struct contrast_spread *ret) {
  const struct contrast_side *a = &contrast->a, *b = &contrast->b;
  for (unsigned unit = 0; unit < a->ratio.count; unit++) {
    unsigned partner = contrast_partner(contrast, unit);
    fill(rows, a, rows->of_a, unit, of_a);
    if (partner < GROUPS_MAX) fill(rows, b, rows->of_b, partner, of_b);
    for (uint32_t i = 0; i < rows->count; i++) {
      double push = contrast_distance(a, unit, of_a[i], rows->rows[i].a);
      double other =
          partner < GROUPS_MAX ? contrast_distance(b, partner, of_b[i], rows->rows[i].b) : 0;
      *(partner < GROUPS_MAX ? &ret[i].pairs : &ret[i].a) += (other - push) * (other - push);
    }
  }
}

static void add_units_of_b(const struct diff_rows *rows, const struct contrast *contrast,
                           uint64_t *of_b, struct contrast_spread *ret) {
  const struct contrast_side *b = &contrast->b;
  for (unsigned unit = 0; unit < b->ratio.count; unit++) {
    if (b->paired >> unit & 1) continue;
    fill(rows, b, rows->of_b, unit, of_b);
    for (uint32_t i = 0; i < rows->count; i++) {
      double push = contrast_distance(b, unit, of_b[i], rows->rows[i].b);
      ret[i].b += push * push;
    }
  }
}

int diff_rows_spread(const struct diff_rows *rows, const struct contrast *contrast,
                     struct arena *arena, struct contrast_spread *ret) {
  uint64_t *of_a = arena_array(arena, rows->count, sizeof *of_a);
  uint64_t *of_b = arena_array(arena, rows->count, sizeof *of_b);
  if (of_a == NULL || of_b == NULL) return -ENOMEM;
  add_units_of_a(rows, contrast, of_a, of_b, ret);
  add_units_of_b(rows, contrast, of_b, ret);
  return 0;
}
