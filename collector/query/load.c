/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of every block is added to exactly one group, so the groups add up to the whole,
   which the walk sums separately.

   Intervals come from the differences between boards (view/groups), or from the samples of one
   board, like those of the function table. A load by board has intervals from samples alone:
   there the boards are the subject and not a sample of others.

   Time measured by clocks may hide part of a row:

     by function, module   [unsampled] may belong to any row but [kernel], which a clock measured
     by thread             any of it may belong to another thread of the process than the main
   thread that it is stored under: it lowers that row and raises the others by a label nothing: a
   process has its labels */
#include "load.h"

#include "common/arena.h"
#include "grouping.h"
#include "view/pseudo_hints.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sum {
  wide_sum weight, told; /* TOLD: the part of the weight that clocks measured */
  uint64_t count;
};

struct adder {
  struct grouping grouping;
  struct sum *sums; /* one for each group */
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
    adder->sums[group].count = sum_of(adder->sums[group].count, block->rows[i].count);
    if (block->rows[i].count == 0) adder->sums[group].told += block->rows[i].weight;
  }
  return error;
}

static int heaviest_first(const void *left, const void *right) {
  const struct query_load_row *a = left, *b = right;
  if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
  int order = strcmp(a->name, b->name);
  return order != 0 ? order : strcmp(a->module, b->module);
}

/* The data for intervals. */
struct intervals {
  const struct adder *adder;
  bool is_by_board, is_by_thread;
  struct ratio ratio;
  double total;
  double hidden; /* the largest part that may belong to any row */
};

static double share_of(const struct intervals *intervals, wide_sum weight) {
  return intervals->total > 0 ? (double)weight / intervals->total : 0;
}

static double variance_of(const struct intervals *intervals, uint32_t group) {
  bool is_told = intervals->adder->sums[group].told > 0; /* not uncertain by sampling */
  uint64_t parts[GROUPS_MAX];
  if (intervals->is_by_board || (is_told && !intervals->ratio.is_grouped)) return 0;
  groups_weights(&intervals->adder->units, group, parts);
  return ratio_variance(&intervals->ratio, parts);
}

static bool is_placeless(const struct adder *adder, uint32_t group) {
  return !grouping_is_by_block(adder->grouping.by) &&
         pseudo_is_placeless(adder->grouping.groups.functions[group].name);
}

/* Whether GROUP is [kernel], whose time is in no other row: nothing raises it, as in the
   function table. */
static bool is_kernel(const struct adder *adder, uint32_t group) {
  const struct view_function *row = &adder->grouping.groups.functions[group];
  bool is_function = strcmp(adder->grouping.by, "function") == 0;
  if (grouping_is_by_block(adder->grouping.by) || strcmp(row->name, PSEUDO_KERNEL) != 0)
    return false;
  return is_function || adder->sums[group].count == 0; /* a module has sampled functions, too */
}

/* Weight that no sample could show. */
static wide_sum find_unsampled(const struct adder *adder) {
  wide_sum weight = 0;
  for (uint32_t i = 1; i < adder->grouping.groups.count; i++)
    if (is_placeless(adder, i) && adder->sums[i].count == 0) weight += adder->sums[i].weight;
  return weight;
}

static void find_hidden(struct intervals *intervals) {
  const struct adder *adder = intervals->adder;
  for (uint32_t i = 1; i < adder->grouping.groups.count; i++) {
    const struct sum *sum = &adder->sums[i];
    if (intervals->is_by_thread)
      intervals->hidden += share_of(intervals, sum->told);
    else if (is_placeless(adder, i) && sum->weight > 0)
      intervals->hidden += ratio_reach(&intervals->ratio, share_of(intervals, sum->weight),
                                       variance_of(intervals, i));
  }
}

static void prepare(const struct adder *adder, const struct view_tree *whole,
                    struct intervals *ret) {
  static const struct groups none = {.kind = GROUPS_NONE};
  const char *by = adder->grouping.by;
  *ret = (struct intervals){.adder = adder,
                            .is_by_board = strcmp(by, "board") == 0,
                            .is_by_thread = strcmp(by, "thread") == 0,
                            .total = (double)whole->total_weight};
  const struct ratio_whole all = {.groups = ret->is_by_board ? &none : &adder->units,
                                  .weight = whole->total_weight,
                                  .unsampled = find_unsampled(adder),
                                  .evidence = &whole->evidence};
  ratio_init_whole(&ret->ratio, &all);
  find_hidden(ret);
}

static void set_share(const struct intervals *intervals, uint32_t group,
                      struct query_load_row *row) {
  const struct sum *sum = &intervals->adder->sums[group];
  double share = share_of(intervals, sum->weight), variance = variance_of(intervals, group);
  double told = intervals->is_by_thread ? share_of(intervals, sum->told) : 0;
  bool is_hidden = is_placeless(intervals->adder, group);
  bool can_rise = !is_hidden && !is_kernel(intervals->adder, group);
  if (is_hidden && sum->count == 0) {
    row->share = ratio_told(&intervals->ratio, share, variance);
    return;
  }
  row->share = ratio_interval(&intervals->ratio, share, variance);
  row->lack = ratio_lack(&intervals->ratio, share, variance);
  row->share.low = fmax(row->share.low - told, 0);
  if (can_rise) ratio_raise(&row->share, intervals->hidden - told);
}

static int list(struct adder *adder, struct arena *arena, struct query_load *load) {
  struct function_table *groups = &adder->grouping.groups;
  struct intervals intervals;
  int error = function_table_tell_builds(groups);
  if (error != 0) return error;
  prepare(adder, &load->whole, &intervals);
  load->basis = ratio_basis(&intervals.ratio);
  load->rows = arena_array(arena, groups->count, sizeof *load->rows);
  if (load->rows == NULL) return -ENOMEM;
  for (uint32_t i = 1; i < groups->count; i++) {
    const struct view_function *group = &groups->functions[i];
    const struct sum *sum = &adder->sums[i];
    load->rows[load->count++] = (struct query_load_row){.name = group->name,
                                                        .module = group->module,
                                                        .file = group->file,
                                                        .weight = sum->weight,
                                                        .count = sum->count};
    set_share(&intervals, i, &load->rows[load->count - 1]);
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
  adder.grouping.naming.cutoff = range->cutoff;
  if (error == 0) error = walk_run(source, range, &walk, arena, &load.whole);
  if (error == 0) error = make_room(&adder, adder.grouping.groups.count); /* empty groups, too */
  if (error == 0) error = list(&adder, arena, &load);
  load.is_unknown = load.count > 0 && !grouping_is_known(by) && !adder.grouping.has_label;
  if (load.is_unknown) load.nearest = grouping_nearest(&adder.grouping, arena);
  grouping_fini(&adder.grouping);
  groups_fini(&adder.units);
  free(adder.sums);
  if (error == 0) *ret = load;
  return error;
}
