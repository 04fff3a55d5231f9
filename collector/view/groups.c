/* SPDX-License-Identifier: Apache-2.0 */
/* A row of weights for each group, a column for each key. They are stored in chunks, since a board
   or a stretch of time has weights for only some of the keys.

   The number of boards is unknown at the first board. So groups start fine and are merged when they
   become too many, always into groups that could have existed from the start:

     TIMES    a stretch is a multiple of its length since 1970; doubling the length merges two
     BOARDS   the second board makes the first board's stretches one group
     HASHED   the 65th board changes ids to hash % 32; halving the modulus merges two.
              So does data already merged over boards, whatever their number

   Boards of one name fall into one group in every answer, so groups of two answers are comparable.

   A stretch of time has a cell for each board, with the board's weight and the times at which its
   windows there begin and end. A window belongs to the stretch that contains its middle, so these
   times define a stretch's true length. Cells are merged over boards as groups are. */
#include "groups.h"

#include "common/arena.h"
#include "common/sums.h"
#include "common/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 8, FIRST_LENGTH_MS = 50 /* the shortest windows of a file */ };

static const size_t chunk_bytes = GROUPS_CHUNK_KEYS * sizeof(uint64_t);

/* With times of several boards a tree has two groups: of times and of boards. */
static bool is_full(const struct groups *groups) {
  uint32_t max =
      groups->is_of_times || groups->is_of_boards ? GROUPS_CHUNKS_MAX / 2 : GROUPS_CHUNKS_MAX;
  return groups->spare == NULL && groups->chunk_count >= max;
}

static void *zeroed(struct groups *groups, size_t len) {
  return groups->arena != NULL ? arena_alloc(groups->arena, len) : calloc(1, len);
}

static uint64_t *new_chunk(struct groups *groups) {
  void *chunk = groups->spare;
  if (chunk == NULL) {
    groups->chunk_count++;
    return zeroed(groups, chunk_bytes);
  }
  memcpy(&groups->spare, chunk, sizeof groups->spare); /* the next one */
  memset(chunk, 0, chunk_bytes);
  return chunk;
}

static void free_chunk(struct groups *groups, uint64_t *chunk) {
  memcpy(chunk, &groups->spare, sizeof groups->spare);
  groups->spare = chunk;
}

/* Tables are small; in an arena, outgrown tables are not freed. */
static int make_table(struct groups *groups, struct group *group, uint32_t needed) {
  uint32_t room = group->room > 0 ? group->room : FIRST_ROOM;
  while (room < needed) room *= 2;
  uint64_t **more = zeroed(groups, room * sizeof *more);
  if (more == NULL) return -ENOMEM;
  if (group->room > 0) memcpy(more, group->chunks, group->room * sizeof *more);
  if (groups->arena == NULL) free(group->chunks);
  group->chunks = more;
  group->room = room;
  return 0;
}

static void merge_chunk(struct groups *groups, uint64_t **into, uint64_t *from) {
  if (*into == NULL) {
    *into = from;
    return;
  }
  for (uint32_t i = 0; i < GROUPS_CHUNK_KEYS; i++) (*into)[i] = sum_of((*into)[i], from[i]);
  free_chunk(groups, from);
}

static void merge_cell(struct group_cell *into, const struct group_cell *from) {
  if (from->last_ms == 0) return;
  into->weight = sum_of(into->weight, from->weight);
  if (into->last_ms == 0 || from->first_ms < into->first_ms) into->first_ms = from->first_ms;
  if (from->last_ms > into->last_ms) into->last_ms = from->last_ms;
}

/* Merges the cells of FROM into those of INTO. */
static void merge_cells(struct groups *groups, struct group *into, struct group *from) {
  if (from->cell_room > into->cell_room) { /* keep the larger array */
    struct group_cell *cells = into->cells;
    uint32_t room = into->cell_room;
    into->cells = from->cells, into->cell_room = from->cell_room;
    from->cells = cells, from->cell_room = room;
  }
  for (uint32_t i = 0; i < from->cell_room; i++) merge_cell(&into->cells[i], &from->cells[i]);
  if (groups->arena == NULL) free(from->cells);
}

/* Merges FROM into INTO. */
static void merge(struct groups *groups, struct group *into, struct group *from) {
  merge_cells(groups, into, from);
  if (from->room > into->room) { /* keep the larger table */
    uint64_t **chunks = into->chunks;
    uint32_t room = into->room;
    into->chunks = from->chunks, into->room = from->room;
    from->chunks = chunks, from->room = room;
  }
  for (uint32_t i = 0; i < from->room; i++)
    if (from->chunks[i] != NULL) merge_chunk(groups, &into->chunks[i], from->chunks[i]);
  into->weight = sum_of(into->weight, from->weight);
  evidence_join(&into->evidence, &from->evidence);
  if (groups->arena == NULL) free(from->chunks);
}

/* Merges groups with equal ids. */
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

/* Doubles the length of stretches of time. */
static void lengthen(struct groups *groups) {
  groups->length_ms *= 2;
  for (unsigned i = 0; i < groups->count; i++) groups->group[i].id /= 2;
  merge_alike(groups);
}

/* Reduces the number of groups. Returns false if it is at its minimum. */
static bool coarsen(struct groups *groups) {
  if (groups->kind == GROUPS_NONE || groups->count <= 1) return false;
  if (groups->kind == GROUPS_HASHED && groups->modulus <= GROUPS_KEPT_MIN) return false;
  if (groups->kind == GROUPS_BOARDS && groups->count <= GROUPS_KEPT_MIN) return false;
  if (groups->kind == GROUPS_TIMES) {
    lengthen(groups);
    return true;
  }
  groups->modulus = groups->kind == GROUPS_HASHED ? groups->modulus / 2 : GROUPS_HASHED_MAX;
  for (unsigned i = 0; i < groups->count; i++) groups->group[i].id %= groups->modulus;
  if (groups->kind == GROUPS_BOARDS) groups->kind = GROUPS_HASHED;
  merge_alike(groups);
  return true;
}

/* Makes the group with ID current, adding it if it is new. Returns false if there is no room. */
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

/* Handles the second board: the first board's stretches become one group. */
static void turn_to_boards(struct groups *groups) {
  for (unsigned i = 0; i < groups->count; i++) groups->group[i].id = groups->board;
  groups->kind = GROUPS_BOARDS;
  merge_alike(groups);
}

static void note_time(struct groups *groups, uint64_t start_ms, uint64_t end_ms) {
  if (groups->first_ms == 0 || start_ms < groups->first_ms) groups->first_ms = start_ms;
  if (end_ms > groups->last_ms) groups->last_ms = end_ms;
}

/* Handles too many boards for the cells: cells become those of groups of boards. */
static void merge_boards(struct groups *groups) {
  unsigned to[GROUPS_MAX], count = 0;
  groups->boards_modulus = GROUPS_HASHED_MAX;
  for (unsigned i = 0; i < groups->board_count; i++) {
    uint64_t id = groups->boards[i] % groups->boards_modulus;
    to[i] = 0;
    while (to[i] < count && groups->boards[to[i]] != id) to[i]++;
    if (to[i] == count) groups->boards[count++] = id;
  }
  groups->board_count = count;
  for (unsigned i = 0; i < groups->count; i++)
    for (uint32_t j = 0; j < groups->group[i].cell_room; j++) {
      struct group_cell *cells = groups->group[i].cells, cell = cells[j];
      cells[j] = (struct group_cell){0, 0, 0};
      if (j < GROUPS_MAX) merge_cell(&cells[to[j]], &cell);
    }
}

/* Makes the board with HASH current. */
static void select_board(struct groups *groups, uint64_t hash) {
  for (;;) {
    uint64_t id = groups->boards_modulus > 0 ? hash % groups->boards_modulus : hash;
    unsigned at = 0;
    while (at < groups->board_count && groups->boards[at] != id) at++;
    groups->current_board = at;
    if (at < groups->board_count) return;
    if (at < GROUPS_MAX) {
      groups->boards[groups->board_count++] = id;
      return;
    }
    merge_boards(groups);
  }
}

static int note_window(struct groups *groups, uint64_t start_ms, uint64_t end_ms) {
  struct group *group = &groups->group[groups->current];
  if (groups->current_board >= group->cell_room) {
    uint32_t room = group->cell_room > 0 ? group->cell_room : 1;
    while (room <= groups->current_board) room *= 2;
    struct group_cell *more = zeroed(groups, room * sizeof *more);
    if (more == NULL) return -ENOMEM;
    if (group->cell_room > 0) memcpy(more, group->cells, group->cell_room * sizeof *more);
    if (groups->arena == NULL) free(group->cells);
    group->cells = more;
    group->cell_room = room;
  }
  merge_cell(&group->cells[groups->current_board], &(struct group_cell){0, start_ms, end_ms});
  return 0;
}

static void turn_to_time(struct groups *groups, uint64_t board, uint64_t start_ms,
                         uint64_t end_ms) {
  uint64_t middle_ms = start_ms + (end_ms > start_ms ? (end_ms - start_ms) / 2 : 0);
  while (!select_group(groups, middle_ms / groups->length_ms)) coarsen(groups);
  select_board(groups, board);
  if (note_window(groups, start_ms, end_ms) != 0) groups->has_failed = true;
}

void groups_turn(struct groups *groups, const char *board, uint64_t start_ms, uint64_t end_ms) {
  uint64_t hash = table_hash(board, strlen(board), 0);
  note_time(groups, start_ms, end_ms);
  if (groups->is_off) return;
  if (groups->kind == GROUPS_NONE) {
    groups->kind = groups->is_of_boards ? GROUPS_BOARDS : GROUPS_TIMES;
    groups->board = hash;
    groups->length_ms = FIRST_LENGTH_MS;
  }
  bool is_other = hash != groups->board && !groups->is_of_times;
  if (groups->kind == GROUPS_TIMES && is_other) turn_to_boards(groups);
  if (groups->kind == GROUPS_TIMES) {
    turn_to_time(groups, hash, start_ms, end_ms);
    return;
  }
  if (groups->kind == GROUPS_BOARDS && select_group(groups, hash)) return;
  if (groups->kind == GROUPS_BOARDS) coarsen(groups);
  select_group(groups, hash % groups->modulus);
}

void groups_turn_merged(struct groups *groups, unsigned group, uint64_t start_ms, uint64_t end_ms) {
  note_time(groups, start_ms, end_ms);
  if (groups->is_off) return;
  if (groups->kind == GROUPS_TIMES) turn_to_boards(groups);
  if (groups->kind == GROUPS_BOARDS) coarsen(groups);
  if (groups->kind != GROUPS_HASHED) { /* none yet, or kept by coarsen */
    groups->kind = GROUPS_HASHED;
    groups->modulus = GROUPS_HASHED_MAX;
    for (unsigned i = 0; i < groups->count; i++) groups->group[i].id %= GROUPS_HASHED_MAX;
    merge_alike(groups);
  }
  select_group(groups, group % groups->modulus);
}

static int add_chunk(struct groups *groups, uint32_t at) {
  while (is_full(groups) && coarsen(groups)) continue;
  if (is_full(groups)) {
    groups->is_off = true;
    groups->kind = GROUPS_NONE;
    return 0;
  }
  struct group *group = &groups->group[groups->current];
  int error = at < group->room ? 0 : make_table(groups, group, at + 1);
  if (error != 0 || group->chunks[at] != NULL) return error;
  group->chunks[at] = new_chunk(groups);
  return group->chunks[at] != NULL ? 0 : -ENOMEM;
}

int groups_add(struct groups *groups, uint32_t key, uint64_t weight) {
  uint32_t at = key / GROUPS_CHUNK_KEYS;
  if (groups->has_failed) return -ENOMEM;
  if (groups->kind == GROUPS_NONE) return 0;
  struct group *group = &groups->group[groups->current];
  if (at >= group->room || group->chunks[at] == NULL) {
    int error = key < GROUPS_KEYS_MAX ? add_chunk(groups, at) : -EOVERFLOW;
    if (error != 0 || groups->kind == GROUPS_NONE) return error;
    group = &groups->group[groups->current];
  }
  uint64_t *of_key = &group->chunks[at][key % GROUPS_CHUNK_KEYS];
  *of_key = sum_of(*of_key, weight);
  group->weight = sum_of(group->weight, weight);
  if (groups->kind == GROUPS_TIMES) {
    struct group_cell *cell = &group->cells[groups->current_board];
    cell->weight = sum_of(cell->weight, weight);
  }
  return 0;
}

void groups_add_evidence(struct groups *groups, const struct evidence *more) {
  if (groups->kind == GROUPS_NONE) return;
  evidence_join(&groups->group[groups->current].evidence, more);
}

static void free_group(struct group *group) {
  free(group->cells);
  for (uint32_t i = 0; i < group->room; i++) free(group->chunks[i]);
  free(group->chunks);
}

void groups_fini(struct groups *groups) {
  for (unsigned i = 0; i < groups->count && groups->arena == NULL; i++)
    free_group(&groups->group[i]);
  for (void *chunk = groups->spare; chunk != NULL && groups->arena == NULL;) {
    void *next;
    memcpy(&next, chunk, sizeof next);
    free(chunk);
    chunk = next;
  }
  *groups = (struct groups){.count = 0};
}

uint64_t groups_weight(const struct groups *groups, unsigned group, uint32_t key) {
  const struct group *in = &groups->group[group];
  uint32_t at = key / GROUPS_CHUNK_KEYS;
  bool has_any = at < in->room && in->chunks[at] != NULL;
  return has_any ? in->chunks[at][key % GROUPS_CHUNK_KEYS] : 0;
}

void groups_weights(const struct groups *groups, uint32_t key, uint64_t ret[GROUPS_MAX]) {
  for (unsigned i = 0; i < groups->count; i++) ret[i] = groups_weight(groups, i, key);
}

bool groups_are_alike(const struct groups *a, const struct groups *b) {
  if (a->kind != b->kind || a->count != b->count) return false;
  for (unsigned i = 0; i < a->count; i++)
    if (a->group[i].id != b->group[i].id) return false;
  return true;
}

void groups_totals(const struct groups *groups, uint64_t ret[GROUPS_MAX]) {
  for (unsigned i = 0; i < groups->count; i++) ret[i] = groups->group[i].weight;
}
