/* SPDX-License-Identifier: Apache-2.0 */
/* Functions are named as in the function table, by the innermost function at the leaf, and modules
   as that table names them. So the rows of a load by module are sums of that table's rows.

   A label belongs to the series, and so to all rows of a block: it is looked up once a block. A
   label that the series lacks is empty, as in selectors. */
#include "grouping.h"

#include "common/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const usual[] = {"function", "module",   "board", "service", "exe",
                                    "thread",   "build_id", "arch",  "kernel"};

bool grouping_is_known(const char *by) {
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    if (strcmp(by, usual[i]) == 0) return true;
  return false;
}

static bool is_by(const struct grouping *grouping, const char *what) {
  return grouping->by != NULL && strcmp(grouping->by, what) == 0;
}

bool grouping_is_by_block(const char *by) {
  return by == NULL || (strcmp(by, "function") != 0 && strcmp(by, "module") != 0);
}

int grouping_init(struct grouping *grouping, const char *by, struct symbolizer *symbolizer,
                  struct arena *arena) {
  *grouping = (struct grouping){.by = by, .near = {.word = by}};
  naming_init(&grouping->naming, symbolizer, &grouping->groups, NULL);
  return function_table_init(&grouping->groups, arena);
}

void grouping_fini(struct grouping *grouping) {
  naming_fini(&grouping->naming);
  function_table_fini(&grouping->groups);
  free(grouping->of_module);
}

static int intern(struct grouping *grouping, const char *name, uint32_t *ret) {
  const struct view_function group = {.name = name, .module = ""};
  return function_table_intern(&grouping->groups, &group, false, ret);
}

/* Clears the groups of modules, unless FOREST is still the current forest. */
static int turn_to(struct grouping *grouping, const struct store_forest *forest) {
  if (grouping->of_module != NULL && grouping->forest_id == forest->id) return 0;
  if (forest->module_count > grouping->module_room) {
    uint32_t *more = reallocarray(grouping->of_module, forest->module_count, sizeof *more);
    if (more == NULL) return -ENOMEM;
    grouping->of_module = more;
    grouping->module_room = forest->module_count;
  }
  if (forest->module_count > 0)
    memset(grouping->of_module, 0, forest->module_count * sizeof *grouping->of_module);
  grouping->forest_id = forest->id;
  return 0;
}

/* Offers a suggestion. The name is copied because it is freed with its series. */
static void offer_label(struct grouping *grouping, const char *name) {
  if (!near_word_offer(&grouping->near, name)) return;
  snprintf(grouping->nearest, sizeof grouping->nearest, "%s", name);
  grouping->near.nearest = grouping->nearest;
}

static void offer_labels(struct grouping *grouping, const struct store_series *series) {
  for (uint32_t i = 0; i < series->label_count; i++) offer_label(grouping, series->labels[i].name);
}

const char *grouping_nearest(const struct grouping *grouping, struct arena *arena) {
  struct near_word near = grouping->near;
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) near_word_offer(&near, usual[i]);
  const char *found = near_word_found(&near);
  const char *kept = found != NULL ? arena_string(arena, found, strlen(found)) : NULL;
  return kept != NULL ? kept : "";
}

int grouping_turn(struct grouping *grouping, const struct walk_block *block) {
  if (is_by(grouping, "function")) {
    int holds = naming_turn(&grouping->naming, block->board, block->forest);
    if (holds < 0) return holds;
    return naming_prepare(&grouping->naming, block->forest, block->rows, block->count, false);
  }
  if (is_by(grouping, "module")) return turn_to(grouping, block->forest);
  const char *value = "";
  if (grouping->by != NULL) value = store_series_label(block->series, grouping->by);
  if (value != NULL)
    grouping->has_label = true;
  else if (!grouping->has_label)
    offer_labels(grouping, block->series);
  return intern(grouping, value != NULL ? value : "", &grouping->of_block);
}

static int find_module(struct grouping *grouping, const struct store_forest *forest,
                       uint32_t module, uint32_t *ret) {
  uint32_t *known = &grouping->of_module[module];
  int error = 0;
  if (*known == 0) error = intern(grouping, walk_module_name(&forest->modules[module]), known);
  *ret = *known;
  return error;
}

int grouping_find(struct grouping *grouping, const struct walk_block *block,
                  const struct store_row *row, uint32_t *ret) {
  *ret = grouping->of_block;
  if (grouping_is_by_block(grouping->by)) return 0;
  const struct store_node *leaf = &block->forest->nodes[row->node];
  return is_by(grouping, "function") ? naming_find(&grouping->naming, block->forest, leaf, ret)
                                     : find_module(grouping, block->forest, leaf->module, ret);
}
