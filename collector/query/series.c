/* SPDX-License-Identifier: Apache-2.0 */
/* A block has the time spent within its window, but not when in the window. Windows are ten
   seconds at high load and longer at low load, so a block may cover several steps: each step
   gets the part of the block's time that it covers. Parts are differences of rounded-down
   running sums,

     part(k) = floor(w * covered up to k / all) - floor(w * covered up to k-1 / all)

   which add up to w exactly despite rounding. If part of a block lies outside the range (its
   midpoint lies inside), that part is counted in the range's first or last step. So the points
   add up to the sum that every other answer about this range has.

   A block's sum is enough unless functions or modules are distinguished: a year by service reads
   no rows, and so does not detect damaged ones.

   Only points that are not empty are stored, in a hash table: a thousand threads that each ran
   for a minute have few points a day. */
#include "series.h"

#include "common/arena.h"
#include "common/array.h"
#include "common/clock.h"
#include "grouping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MS_PER_S = 1000 };

struct point {
  uint32_t group, step; /* step: number from the range's first */
  wide_sum weight;
};

struct plotter {
  struct grouping grouping;
  uint64_t from_ms, to_ms, step_ms;
  struct table by_place;
  struct point *points;
  uint32_t count, room;
};

uint64_t series_step_count(uint64_t from_ms, uint64_t to_ms, uint64_t step_s) {
  uint64_t step_ms = step_s * MS_PER_S;
  return to_ms > from_ms ? (to_ms - 1) / step_ms - from_ms / step_ms + 1 : 0;
}

static int add_point(struct plotter *plotter, const struct point *wanted, uint64_t key) {
  if (plotter->count == SERIES_POINTS_MAX) return -EOVERFLOW;
  struct point *more =
      array_grow(plotter->points, plotter->count, &plotter->room, 1024, sizeof *more);
  if (more == NULL) return -ENOMEM;
  plotter->points = more;
  plotter->points[plotter->count] = *wanted;
  return table_add(&plotter->by_place, key, plotter->count++);
}

static int add(struct plotter *plotter, uint32_t group, uint64_t step, uint64_t weight) {
  const struct point wanted = {group, (uint32_t)step, weight};
  const uint32_t place[2] = {wanted.group, wanted.step};
  uint64_t key = function_table_hash(&plotter->grouping.groups, place, sizeof place);
  uint32_t cursor;
  if (weight == 0) return 0;
  for (uint32_t at = table_find(&plotter->by_place, key, &cursor); at != TABLE_NONE;
       at = table_next(&plotter->by_place, key, &cursor)) {
    struct point *point = &plotter->points[at];
    if (point->group != group || point->step != wanted.step) continue;
    point->weight += weight;
    return 0;
  }
  return add_point(plotter, &wanted, key);
}

/* Floor of WEIGHT * PART / ALL, for PART of at most ALL: all of WEIGHT if it is ALL.
   Milliseconds of more than 32 bits, 49 days, are rounded. */
static uint64_t part_of(uint64_t weight, uint64_t part, uint64_t all) {
  for (; all > UINT32_MAX; all >>= 1) part >>= 1;
  return weight / all * part + weight % all * part / all;
}

/* Spreads WEIGHT of GROUP over the steps that BLOCK covers. */
static int spread(struct plotter *plotter, const struct walk_block *block, uint32_t group,
                  uint64_t weight) {
  uint64_t start = block->start_ms, end = block->end_ms, step_ms = plotter->step_ms;
  if (start < plotter->from_ms) start = plotter->from_ms;
  if (end > plotter->to_ms) end = plotter->to_ms;
  if (end <= start) end = start + 1;
  uint64_t first = plotter->from_ms / step_ms, all = end - start, done = 0;
  int error = 0;
  for (uint64_t at = start; at < end && error == 0;) {
    uint64_t step = at / step_ms, next = (step + 1) * step_ms;
    if (next > end) next = end;
    uint64_t sum = part_of(weight, next - start, all);
    error = add(plotter, group, step - first, sum - done);
    done = sum;
    at = next;
  }
  return error;
}

static int on_block(void *context, const struct walk_block *block) {
  struct plotter *plotter = context;
  uint32_t group = 0, current = 0;
  uint64_t weight = 0; /* of consecutive rows of the group CURRENT */
  int error = grouping_turn(&plotter->grouping, block);
  for (size_t i = 0; i < block->count && error == 0; i++) {
    error = grouping_find(&plotter->grouping, block, &block->rows[i], &group);
    bool is_next = group != current || !sum_fits(weight, block->rows[i].weight);
    if (error == 0 && is_next && weight > 0) {
      error = spread(plotter, block, current, weight);
      weight = 0;
    }
    current = group;
    weight += block->rows[i].weight;
  }
  return error == 0 && weight > 0 ? spread(plotter, block, current, weight) : error;
}

/* ---- the answer ---- */

struct ranked {
  wide_sum weight;
  const struct view_function *name;
  uint32_t group;
};

static int heaviest_first(const void *left, const void *right) {
  const struct ranked *a = left, *b = right;
  if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
  int order = strcmp(a->name->name, b->name->name);
  return order != 0 ? order : strcmp(a->name->module, b->name->module);
}

/* By rank (then in GROUP), then time. */
static int in_order(const void *left, const void *right) {
  const struct point *a = left, *b = right;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  return a->step < b->step ? -1 : a->step > b->step;
}

/* Ranks the groups by weight and replaces each point's group by its rank; groups after LIMIT are
   merged into one. RET: the groups in order, RET_COUNT of them. */
static int rank(struct plotter *plotter, uint32_t limit, struct arena *arena, struct ranked **ret,
                uint32_t *ret_count) {
  uint32_t count = plotter->grouping.groups.count, kept = 0;
  struct ranked *ranked = arena_array(arena, count, sizeof *ranked);
  uint32_t *ranks = arena_array(arena, count, sizeof *ranks);
  if (ranked == NULL || ranks == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < count; i++)
    ranked[i] = (struct ranked){0, &plotter->grouping.groups.functions[i], i};
  for (uint32_t i = 0; i < plotter->count; i++)
    ranked[plotter->points[i].group].weight += plotter->points[i].weight;
  qsort(ranked, count, sizeof *ranked, heaviest_first);
  while (kept < count && ranked[kept].weight > 0) kept++;
  for (uint32_t i = 0; i < kept; i++) ranks[ranked[i].group] = i < limit ? i : limit;
  for (uint32_t i = 0; i < plotter->count; i++)
    plotter->points[i].group = ranks[plotter->points[i].group];
  if (plotter->count > 0) qsort(plotter->points, plotter->count, sizeof *plotter->points, in_order);
  *ret = ranked;
  *ret_count = kept;
  return 0;
}

/* Moves the points of RANK, from *AT on, into ROW; sums those of one step. */
static void take_points(const struct plotter *plotter, uint32_t of_rank, uint32_t *at,
                        struct query_point *room, struct query_series_row *row) {
  uint64_t first = plotter->from_ms / plotter->step_ms, step_s = plotter->step_ms / MS_PER_S;
  uint32_t count = 0;
  row->points = room;
  for (; *at < plotter->count && plotter->points[*at].group == of_rank; ++*at) {
    const struct point *point = &plotter->points[*at];
    uint64_t time_s = (first + point->step) * step_s;
    if (count > 0 && room[count - 1].time_s == time_s)
      room[count - 1].weight += point->weight;
    else
      room[count++] = (struct query_point){time_s, point->weight};
    row->weight += point->weight;
  }
  row->point_count = count;
}

static int list(struct plotter *plotter, uint32_t limit, struct arena *arena,
                struct query_series *series) {
  struct ranked *ranked;
  uint32_t groups, at = 0;
  int error = function_table_tell_builds(&plotter->grouping.groups);
  if (error == 0) error = rank(plotter, limit, arena, &ranked, &groups);
  if (error != 0) return error;
  series->count = groups < limit ? groups : limit;
  series->rest_count = groups - series->count;
  series->rows = arena_array(arena, series->count, sizeof *series->rows);
  struct query_point *points = arena_array(arena, plotter->count, sizeof *points);
  if (series->rows == NULL || points == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < series->count; i++) {
    const struct view_function *name = ranked[i].name;
    series->rows[i] = (struct query_series_row){.name = name->name, .module = name->module};
    take_points(plotter, i, &at, &points[at], &series->rows[i]);
  }
  series->rest.name = series->rest.module = "";
  take_points(plotter, limit, &at, &points[at], &series->rest);
  return 0;
}

int query_series(const struct query_source *source, const struct query_range *range,
                 const struct series_wish *wish, struct arena *arena, struct query_series *ret) {
  struct plotter plotter = {
      .from_ms = range->from_ms, .to_ms = range->to_ms, .step_ms = wish->step_s * MS_PER_S};
  struct query_series series = {.count = 0};
  const struct walk walk = {.on_block = on_block,
                            .context = &plotter,
                            .need = {.boards = wish->by != NULL && strcmp(wish->by, "board") == 0,
                                     .nothing_within = grouping_is_by_block(wish->by),
                                     .step_ms = plotter.step_ms}};
  int error = grouping_init(&plotter.grouping, wish->by, source->symbolizer, arena);
  plotter.grouping.naming.cutoff = range->cutoff;
  if (error == 0) error = walk_run(source, range, &walk, arena, &series.whole);
  if (error == 0) error = list(&plotter, wish->limit, arena, &series);
  series.is_unknown = wish->by != NULL && series.whole.total_count > 0 &&
                      !grouping_is_known(wish->by) && !plotter.grouping.has_label;
  if (series.is_unknown) series.nearest = grouping_nearest(&plotter.grouping, arena);
  table_fini(&plotter.by_place);
  free(plotter.points);
  grouping_fini(&plotter.grouping);
  if (error == 0) *ret = series;
  return error;
}
