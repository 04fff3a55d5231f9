/* SPDX-License-Identifier: Apache-2.0 */
/* A row of weights for each group, a column for each key.

   How many boards there will be nobody knows at the first one, so groups begin fine and are merged
   when there get too many of them, always into such as would have been there from the start:

     TIMES    a stretch is a multiple of its length since 1970; twice the length merges two
     BOARDS   the second board makes the first one's stretches one group
     HASHED   the 65th board brings hash % 64; half of it merges two

   Boards of one name fall into one group in every answer, so those of two answers can be compared
   group by group. */
#include "groups.h"

#include "common/arena.h"
#include "common/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024, FIRST_LENGTH_MS = 10000 };

static int make_room(struct groups *groups, struct group *group, uint32_t needed) {
  uint32_t room = group->room > 0 ? group->room : FIRST_ROOM;
  while (room < needed && room < UINT32_MAX / 2) room *= 2;
  uint64_t *more = reallocarray(group->weights, room, sizeof *more);
  if (more == NULL) return -ENOMEM;
  memset(more + group->room, 0, (room - group->room) * sizeof *more);
  groups->bytes += (room - group->room) * sizeof *more;
  group->weights = more;
  group->room = room;
  return 0;
}

/* FROM becomes part of INTO. */
static void merge(struct groups *groups, struct group *into, struct group *from) {
  if (from->room > into->room) { /* the larger row stays */
    uint64_t *weights = into->weights;
    uint32_t room = into->room;
    into->weights = from->weights, into->room = from->room;
    from->weights = weights, from->room = room;
  }
  for (uint32_t i = 0; i < from->room; i++) into->weights[i] += from->weights[i];
  into->weight += from->weight;
  groups->bytes -= from->room * sizeof *from->weights;
  free(from->weights);
}

/* Merges groups whose ids have become the same. */
static void merge_alike(struct groups *groups) {
  unsigned kept = 0;
  uint64_t current = groups->group[groups->current].id;
  for (unsigned i = 0; i < groups->count; i++) {
    unsigned same = 0;
    while (same < kept && groups->group[same].id != groups->group[i].id) same++;
    if (same < kept)
      merge(groups, &groups->group[same], &groups->group[i]);
    else if (kept++ < i)
      groups->group[kept - 1] = groups->group[i];
  }
  groups->count = kept;
  for (unsigned i = 0; i < kept; i++)
    if (groups->group[i].id == current) groups->current = i;
}

/* Makes groups fewer.  Returns false where they are as few as they may be. */
static bool coarsen(struct groups *groups) {
  if (groups->kind == GROUPS_NONE || groups->count <= 1) return false;
  if (groups->kind == GROUPS_HASHED && groups->modulus <= GROUPS_KEPT_MIN) return false;
  if (groups->kind == GROUPS_BOARDS && groups->count <= GROUPS_KEPT_MIN) return false;
  if (groups->kind == GROUPS_TIMES) groups->length_ms *= 2;
  groups->modulus = groups->kind == GROUPS_HASHED ? groups->modulus / 2 : GROUPS_MAX;
  for (unsigned i = 0; i < groups->count; i++) {
    if (groups->kind == GROUPS_TIMES)
      groups->group[i].id /= 2;
    else
      groups->group[i].id %= groups->modulus;
  }
  if (groups->kind == GROUPS_BOARDS) groups->kind = GROUPS_HASHED;
  merge_alike(groups);
  return true;
}

/* Makes the group with ID the current one, adding it if there is none yet and room for it. */
static bool select_group(struct groups *groups, uint64_t id) {
  unsigned max = groups->kind == GROUPS_TIMES ? GROUPS_TIMES_MAX : GROUPS_MAX;
  unsigned at = 0;
  if (groups->count > 0 && groups->group[groups->current].id == id) return true;
  while (at < groups->count && groups->group[at].id != id) at++;
  if (at == max) return false;
  if (at == groups->count) groups->group[groups->count++] = (struct group){.id = id};
  groups->current = at;
  return true;
}

/* The second board is there: what was seen of the first one is one group. */
static void turn_to_boards(struct groups *groups) {
  for (unsigned i = 0; i < groups->count; i++) groups->group[i].id = groups->board;
  groups->kind = GROUPS_BOARDS;
  merge_alike(groups);
}

void groups_turn(struct groups *groups, const char *board, uint64_t start_ms, uint64_t end_ms) {
  uint64_t hash = table_hash(board, strlen(board), 0);
  uint64_t middle_ms = start_ms + (end_ms > start_ms ? (end_ms - start_ms) / 2 : 0);
  if (groups->kind == GROUPS_NONE) {
    groups->kind = GROUPS_TIMES;
    groups->board = hash;
    groups->length_ms = FIRST_LENGTH_MS;
  }
  if (groups->kind == GROUPS_TIMES && hash != groups->board) turn_to_boards(groups);
  if (groups->kind == GROUPS_TIMES) {
    while (!select_group(groups, middle_ms / groups->length_ms)) coarsen(groups);
    return;
  }
  if (groups->kind == GROUPS_BOARDS && select_group(groups, hash)) return;
  if (groups->kind == GROUPS_BOARDS) coarsen(groups);
  select_group(groups, hash % groups->modulus);
}

int groups_add(struct groups *groups, uint32_t key, uint64_t weight) {
  if (groups->kind == GROUPS_NONE) return 0;
  struct group *group = &groups->group[groups->current];
  if (key >= group->room) {
    int error = make_room(groups, group, key + 1);
    if (error != 0) return error;
    while (groups->bytes > GROUPS_BYTES_MAX && coarsen(groups)) continue;
    group = &groups->group[groups->current];
  }
  group->weights[key] += weight;
  group->weight += weight;
  return 0;
}

void groups_fini(struct groups *groups) {
  for (unsigned i = 0; i < groups->count; i++) free(groups->group[i].weights);
  *groups = (struct groups){.count = 0};
}

void groups_weights(const struct groups *groups, uint32_t key, uint64_t ret[GROUPS_MAX]) {
  for (unsigned i = 0; i < groups->count; i++) {
    const struct group *group = &groups->group[i];
    ret[i] = key < group->room ? group->weights[key] : 0;
  }
}

void groups_totals(const struct groups *groups, uint64_t ret[GROUPS_MAX]) {
  for (unsigned i = 0; i < groups->count; i++) ret[i] = groups->group[i].weight;
}

static uint32_t count_cells(const struct group *group) {
  uint32_t cells = 0;
  for (uint32_t i = 0; i < group->room; i++) cells += group->weights[i] > 0;
  return cells;
}

static int copy_group(const struct group *group, struct arena *arena, struct view_group *ret) {
  uint32_t cells = count_cells(group), at = 0;
  uint32_t *keys = arena_array(arena, cells, sizeof *keys);
  uint64_t *weights = arena_array(arena, cells, sizeof *weights);
  if (keys == NULL || weights == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < group->room; i++) {
    if (group->weights[i] == 0) continue;
    keys[at] = i;
    weights[at++] = group->weights[i];
  }
  *ret = (struct view_group){group->id, group->weight, cells, keys, weights};
  return 0;
}

int groups_copy(struct groups *groups, struct arena *arena, struct view_groups *ret) {
  uint64_t cells;
  do {
    cells = 0;
    for (unsigned i = 0; i < groups->count; i++) cells += count_cells(&groups->group[i]);
  } while (cells > GROUPS_CELLS_MAX && coarsen(groups));
  *ret = (struct view_groups){groups->kind, groups->count, groups->modulus, {{0}}};
  for (unsigned i = 0; i < groups->count; i++) {
    int error = copy_group(&groups->group[i], arena, &ret->group[i]);
    if (error != 0) return error;
  }
  return 0;
}
