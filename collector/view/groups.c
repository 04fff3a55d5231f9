/* SPDX-License-Identifier: Apache-2.0 */
/* A row of weights for each group, a column for each key, in chunks, since boards and stretches of
   time touch a part of the keys each.

   How many boards there will be nobody knows at the first one, so groups begin fine and are merged
   when there get too many of them, always into such as would have been there from the start:

     TIMES    a stretch is a multiple of its length since 1970; twice the length merges two
     BOARDS   the second board makes the first one's stretches one group
     HASHED   the 65th board brings hash % 32; half of it merges two.  So does what is already
              merged over boards, however few there are

   Boards of one name fall into one group in every answer, so those of two answers can be compared
   group by group. */
#include "groups.h"

#include "common/arena.h"
#include "common/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 8, FIRST_LENGTH_MS = 10000 };

static const size_t chunk_bytes = GROUPS_CHUNK_KEYS * sizeof(uint64_t);

static bool is_full(const struct groups *groups) {
  return groups->spare == NULL && groups->chunk_count >= GROUPS_CHUNKS_MAX;
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

/* Tables are small; those of an arena that were outgrown stay in it. */
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
  for (uint32_t i = 0; i < GROUPS_CHUNK_KEYS; i++) (*into)[i] += from[i];
  free_chunk(groups, from);
}

/* FROM becomes part of INTO. */
static void merge(struct groups *groups, struct group *into, struct group *from) {
  if (from->room > into->room) { /* the larger table stays */
    uint64_t **chunks = into->chunks;
    uint32_t room = into->room;
    into->chunks = from->chunks, into->room = from->room;
    from->chunks = chunks, from->room = room;
  }
  for (uint32_t i = 0; i < from->room; i++)
    if (from->chunks[i] != NULL) merge_chunk(groups, &into->chunks[i], from->chunks[i]);
  into->weight += from->weight;
  if (groups->arena == NULL) free(from->chunks);
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
  groups->modulus = groups->kind == GROUPS_HASHED ? groups->modulus / 2 : GROUPS_HASHED_MAX;
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
  if (groups->is_off) return;
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

void groups_turn_merged(struct groups *groups, unsigned group) {
  if (groups->is_off) return;
  if (groups->kind == GROUPS_TIMES) turn_to_boards(groups);
  if (groups->kind == GROUPS_BOARDS) coarsen(groups);
  if (groups->kind != GROUPS_HASHED) { /* none yet, or one that coarsen leaves as it is */
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
  if (groups->kind == GROUPS_NONE) return 0;
  struct group *group = &groups->group[groups->current];
  if (at >= group->room || group->chunks[at] == NULL) {
    int error = key < GROUPS_KEYS_MAX ? add_chunk(groups, at) : -EOVERFLOW;
    if (error != 0 || groups->kind == GROUPS_NONE) return error;
    group = &groups->group[groups->current];
  }
  group->chunks[at][key % GROUPS_CHUNK_KEYS] += weight;
  group->weight += weight;
  return 0;
}

static void free_group(struct group *group) {
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
