/* SPDX-License-Identifier: Apache-2.0 */
/* To the reader of a difference a function is its name and module, whatever file of the source it
   is from, so several functions of a tree may be one row. */
#include "diff_rows.h"

#include "contrast.h"

#include "common/arena.h"

#include <errno.h>
#include <string.h>

static uint32_t find_or_add(struct diff_rows *rows, const struct view_function *function) {
  uint64_t hash = table_hash(function->name, strlen(function->name), 0);
  hash = table_hash(function->module, strlen(function->module), hash);
  uint32_t cursor, at = table_find(&rows->by_name, hash, &cursor);
  for (; at != TABLE_NONE; at = table_next(&rows->by_name, hash, &cursor))
    if (strcmp(rows->rows[at].name, function->name) == 0 &&
        strcmp(rows->rows[at].module, function->module) == 0)
      return at;
  if (table_add(&rows->by_name, hash, rows->count) != 0) return DIFF_ROW_NONE;
  rows->rows[rows->count] = (struct view_diff_row){
      .name = function->name, .module = function->module, .is_apart = function->is_apart};
  return rows->count++;
}

/* Adds what the functions of TREE hold themselves; IS_B: to the second side. */
static int add_tree(struct diff_rows *rows, const struct view_tree *tree, bool is_b,
                    struct arena *arena, uint32_t **ret) {
  uint32_t *row_of = arena_array(arena, tree->function_count, sizeof *row_of);
  if (row_of == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < tree->function_count; i++) row_of[i] = DIFF_ROW_NONE;
  for (uint32_t i = 1; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    uint32_t *at = &row_of[node->function];
    if (node->self_weight == 0) continue;
    if (*at == DIFF_ROW_NONE) *at = find_or_add(rows, &tree->functions[node->function]);
    if (*at == DIFF_ROW_NONE) return -ENOMEM;
    struct view_diff_row *row = &rows->rows[*at];
    *(is_b ? &row->b_weight : &row->a_weight) += node->self_weight;
  }
  *ret = row_of;
  return 0;
}

int diff_rows_init(struct diff_rows *rows, const struct view_tree *a, const struct view_tree *b,
                   struct arena *arena) {
  *rows = (struct diff_rows){.count = 0};
  size_t room = (size_t)a->function_count + b->function_count;
  rows->rows = arena_array(arena, room, sizeof *rows->rows);
  int error = rows->rows == NULL ? -ENOMEM : 0;
  if (error == 0) error = add_tree(rows, a, false, arena, &rows->of_a);
  if (error == 0) error = add_tree(rows, b, true, arena, &rows->of_b);
  return error;
}

void diff_rows_fini(struct diff_rows *rows) {
  table_fini(&rows->by_name);
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
