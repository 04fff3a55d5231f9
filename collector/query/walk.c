/* SPDX-License-Identifier: Apache-2.0 */
/* Sums are made here, from the rows passed on. So all answers have the same sums, however they
   group the rows. */
#include "walk.h"

#include "common/path.h"
#include "range.h"
#include "view/marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct round {
  const struct query_range *range;
  const struct walk *walk;
  struct view_tree *summary;
  struct marks marks;
};

static int wants(void *context, const struct store_series *series) {
  const struct round *round = context;
  return range_wants(round->range, series);
}

/* How unlike samples of one block are its sum does not tell. */
static void add_up(const struct round *round, const struct store_forest *forest,
                   const struct store_row *rows, size_t count) {
  struct view_tree *summary = round->summary;
  uint32_t rest = forest->rest > 0 ? forest->rest - 1 : BATCH_NONE;
  for (size_t i = 0; i < count; i++) {
    summary->total_weight += rows[i].weight;
    summary->has_rest |= rows[i].node == rest;
    summary->total_count = sum_of(summary->total_count, rows[i].count);
    if (!round->walk->need.nothing_within)
      evidence_add(&summary->evidence, rows[i].count, rows[i].weight);
  }
}

static int on_block(void *context, const struct store_series *series,
                    const struct store_forest *forest, uint64_t start_ms, uint64_t end_ms,
                    const struct store_row *rows, size_t count) {
  struct round *round = context;
  const char *board = store_series_label(series, "board");
  struct walk_block block = {.series = series,
                             .forest = forest,
                             .board = board != NULL ? board : "",
                             .group = series->group > 0 ? series->group - 1 : 0,
                             .start_ms = start_ms,
                             .end_ms = end_ms,
                             .rows = rows,
                             .count = count};
  int error = 0;
  if (series->marks != 0)
    error = marks_add(&round->marks, store_series_label(series, "service"), series->marks);
  if (error != 0) return error;
  add_up(round, forest, rows, count);
  return round->walk->on_block(round->walk->context, &block);
}

int walk_run(const struct query_source *source, const struct query_range *range,
             const struct walk *walk, struct arena *arena, struct view_tree *summary) {
  *summary = (struct view_tree){0};
  struct round round = {.range = range, .walk = walk, .summary = summary};
  struct store_scan scan = {.types = range->types,
                            .matches = wants,
                            .on_block = on_block,
                            .cutoff = range->cutoff,
                            .context = &round};
  int error = reading_choose(source->store, range, &walk->need, &scan);
  if (error == 0) error = store_scan(source->store, &scan);
  if (error == 0) error = range_loss(source->store, range, summary->loss);
  if (error == 0) error = marks_copy(&round.marks, arena, &summary->marks, &summary->mark_count);
  marks_fini(&round.marks);
  return error;
}

void walk_turn(struct groups *groups, const struct walk_block *block) {
  if (block->series->group > 0 && !groups->is_of_times)
    groups_turn_merged(groups, block->group, block->start_ms, block->end_ms);
  else
    groups_turn(groups, block->board, block->start_ms, block->end_ms);
  struct evidence samples = {0, 0};
  for (size_t i = 0; i < block->count; i++)
    evidence_add(&samples, block->rows[i].count, block->rows[i].weight);
  groups_add_evidence(groups, &samples);
}

const char *walk_module_name(const struct store_module *module) {
  return module->kind == MODULE_ELF ? path_name(module->path) : module->path;
}
