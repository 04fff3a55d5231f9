/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of every block is added to exactly one of our groups, so they add up to the whole,
   which the walk sums by itself.

   Intervals come from how boards, or stretches of time, differ (view/groups), as those of the
   function table do.  Not those of a load by board: there the boards are what is asked for and no
   sample of others, and what is uncertain is what the samples of each say. */
#include "load.h"

#include "common/arena.h"
#include "grouping.h"
#include "view/interval.h"
#include "view/ratio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sum {
  uint64_t weight, count;
};

struct adder {
  struct grouping grouping;
  struct sum *sums; /* one a group */
  uint32_t room;
  struct groups units; /* sums by sampling unit, for intervals */
};

static int make_room(struct adder *adder, uint32_t group) {
  if (group < adder->room) return 0;
  uint32_t room = adder->room > 0 ? adder->room : 64;
  while (room <= group) room *= 2;
  struct sum *more = reallocarray(adder->sums, room, sizeof *more);
  if (more == NULL) return -ENOMEM;
  memset(more + adder->room, 0, (room - adder->room) * sizeof *more);
  adder->sums = more;
  adder->room = room;
  return 0;
}

static int on_block(void *context, const struct walk_block *block) {
  struct adder *adder = context;
  uint32_t group;
  int error = grouping_turn(&adder->grouping, block);
  walk_turn(&adder->units, block);
  for (size_t i = 0; i < block->count && error == 0; i++) {
    error = grouping_find(&adder->grouping, block, &block->rows[i], &group);
    if (error == 0) error = make_room(adder, group);
    if (error == 0) error = groups_add(&adder->units, group, block->rows[i].weight);
    if (error != 0) break;
    adder->sums[group].weight += block->rows[i].weight;
    adder->sums[group].count += block->rows[i].count;
  }
  return error;
}

static int heaviest_first(const void *left, const void *right) {
  const struct query_load_row *a = left, *b = right;
  if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
  int order = strcmp(a->name, b->name);
  return order != 0 ? order : strcmp(a->module, b->module);
}

/* What intervals are made of. */
struct intervals {
  const struct groups *units; /* NULL: samples alone */
  struct ratio ratio;
  double total, trials;
};

static void prepare(const struct adder *adder, const struct view_tree *whole,
                    struct intervals *ret) {
  uint64_t totals[GROUPS_MAX];
  bool is_by_board = strcmp(adder->grouping.by, "board") == 0;
  ret->units = is_by_board ? NULL : &adder->units;
  ret->total = (double)whole->total_weight;
  ret->trials = evidence_trials(&whole->evidence);
  groups_totals(&adder->units, totals);
  ratio_init(&ret->ratio, adder->units.kind, adder->units.count, totals, ret->trials);
}

static struct view_basis basis_of(const struct intervals *intervals) {
  return intervals->units == NULL ? (struct view_basis){.unit = "samples"}
                                  : ratio_basis(&intervals->ratio);
}

static struct view_share share_of(const struct intervals *intervals, uint32_t group,
                                  uint64_t weight) {
  uint64_t parts[GROUPS_MAX];
  if (intervals->units == NULL)
    return interval_wilson(intervals->total > 0 ? (double)weight / intervals->total : 0,
                           intervals->trials);
  groups_weights(intervals->units, group, parts);
  return ratio_share(&intervals->ratio, parts);
}

static int list(struct adder *adder, struct arena *arena, struct query_load *load) {
  struct function_table *groups = &adder->grouping.groups;
  struct intervals intervals;
  int error = function_table_tell_builds(groups);
  if (error != 0) return error;
  prepare(adder, &load->whole, &intervals);
  load->basis = basis_of(&intervals);
  load->rows = arena_array(arena, groups->count, sizeof *load->rows);
  if (load->rows == NULL) return -ENOMEM;
  for (uint32_t i = 1; i < groups->count; i++) {
    const struct view_function *group = &groups->functions[i];
    const struct sum *sum = &adder->sums[i];
    load->rows[load->count++] =
        (struct query_load_row){.name = group->name,
                                .module = group->module,
                                .file = group->file,
                                .weight = sum->weight,
                                .count = sum->count,
                                .share = share_of(&intervals, i, sum->weight)};
  }
  qsort(load->rows, load->count, sizeof *load->rows, heaviest_first);
  return 0;
}

int query_load(const struct query_source *source, const struct query_range *range, const char *by,
               struct arena *arena, struct query_load *ret) {
  struct adder adder = {.room = 0};
  struct query_load load = {.count = 0};
  const struct walk walk = {
      .on_block = on_block, .context = &adder, .need = {.boards = strcmp(by, "board") == 0}};
  int error = grouping_init(&adder.grouping, by, source->symbolizer, arena);
  if (error == 0) error = walk_run(source, range, &walk, arena, &load.whole);
  if (error == 0) error = make_room(&adder, adder.grouping.groups.count); /* empty ones, too */
  if (error == 0) error = list(&adder, arena, &load);
  load.is_unknown = load.count > 0 && !grouping_is_known(by) && !adder.grouping.has_label;
  if (load.is_unknown) load.nearest = grouping_nearest(&adder.grouping, arena);
  grouping_fini(&adder.grouping);
  groups_fini(&adder.units);
  free(adder.sums);
  if (error == 0) *ret = load;
  return error;
}
