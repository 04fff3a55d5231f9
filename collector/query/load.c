/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of every block is added to exactly one group, so the groups add up to the whole, which
   the walk sums by itself. */
#include "load.h"

#include "common/arena.h"
#include "grouping.h"
#include "view/interval.h"

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
  for (size_t i = 0; i < block->count && error == 0; i++) {
    error = grouping_find(&adder->grouping, block, &block->rows[i], &group);
    if (error == 0) error = make_room(adder, group);
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

static int list(const struct adder *adder, struct arena *arena, struct query_load *load) {
  const struct function_table *groups = &adder->grouping.groups;
  double total = (double)load->whole.total_weight;
  double trials = evidence_trials(&load->whole.evidence);
  load->rows = arena_array(arena, groups->count, sizeof *load->rows);
  if (load->rows == NULL) return -ENOMEM;
  for (uint32_t i = 1; i < groups->count; i++) {
    const struct sum *sum = &adder->sums[i];
    const struct view_function *group = &groups->functions[i];
    double share = total > 0 ? (double)sum->weight / total : 0;
    load->rows[load->count++] = (struct query_load_row){.name = group->name,
                                                        .module = group->module,
                                                        .file = group->file,
                                                        .weight = sum->weight,
                                                        .count = sum->count,
                                                        .share = interval_wilson(share, trials)};
  }
  qsort(load->rows, load->count, sizeof *load->rows, heaviest_first);
  return 0;
}

int query_load(const struct query_source *source, const struct query_range *range, const char *by,
               struct arena *arena, struct query_load *ret) {
  struct adder adder = {.room = 0};
  struct query_load load = {.count = 0};
  const struct walk walk = {on_block, &adder};
  int error = grouping_init(&adder.grouping, by, source->symbolizer, arena);
  if (error == 0) error = walk_run(source, range, &walk, arena, &load.whole);
  if (error == 0) error = make_room(&adder, adder.grouping.groups.count); /* empty ones, too */
  if (error == 0) error = list(&adder, arena, &load);
  load.is_unknown = load.count > 0 && !grouping_is_known(by) && !adder.grouping.has_label;
  grouping_fini(&adder.grouping);
  free(adder.sums);
  if (error == 0) *ret = load;
  return error;
}
