/* SPDX-License-Identifier: Apache-2.0 */
/* Interned places: the position of a tree node within its function. The table is filled only if an
   answer distinguishes lines or addresses. */
#include "place_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FIRST_ROOM = 16 };

int place_table_init(struct place_table *table) {
  *table = (struct place_table){.parts = PLACE_LINES, .room = FIRST_ROOM, .build_room = FIRST_ROOM};
  if (getrandom(&table->seed, sizeof table->seed, 0) < 0) return -errno;
  table->places = calloc(FIRST_ROOM, sizeof *table->places);
  table->builds = calloc(FIRST_ROOM, sizeof *table->builds);
  if (table->places == NULL || table->builds == NULL) return -ENOMEM;
  table->count = table->build_count = 1;
  return 0;
}

void place_table_fini(struct place_table *table) {
  table_fini(&table->by_text);
  table_fini(&table->by_id);
  free(table->places);
  free(table->builds);
}

static bool is_same(const struct view_place *a, const struct view_place *b) {
  if (a->line != b->line || a->build != b->build || a->address != b->address) return false;
  if (a->file == b->file) return true;
  return a->file != NULL && b->file != NULL && strcmp(a->file, b->file) == 0;
}

static int add(struct place_table *table, const struct view_place *wanted, uint64_t hash) {
  if (table->count == VIEW_PLACES_MAX) return -EOVERFLOW;
  if (table->count == table->room) {
    struct view_place *more = reallocarray(table->places, table->room * 2, sizeof *more);
    if (more == NULL) return -ENOMEM;
    table->places = more;
    table->room *= 2;
  }
  table->places[table->count] = *wanted;
  return table_add(&table->by_text, hash, table->count++);
}

/* Returns the parts of WANTED to be kept. An address needs a build. */
static struct view_place kept_of(const struct place_table *table, const struct view_place *wanted) {
  struct view_place kept = {.file = NULL};
  if ((table->parts & PLACE_LINES) != 0) {
    kept.file = wanted->file;
    kept.line = wanted->line;
  }
  if ((table->parts & PLACE_CODE) != 0 && wanted->build != 0) {
    kept.build = wanted->build;
    kept.address = wanted->address;
    kept.start = wanted->start;
  }
  return kept;
}

int place_table_intern(struct place_table *table, const struct view_place *wanted, uint32_t *ret) {
  const struct view_place kept = kept_of(table, wanted);
  const uint64_t words[2] = {(uint64_t)kept.build << 32 | kept.line, kept.address};
  uint64_t hash = table_hash(words, sizeof words, table->seed);
  uint32_t cursor;
  if (kept.file == NULL && kept.line == 0 && kept.build == 0) {
    *ret = 0;
    return 0;
  }
  if (kept.file != NULL) hash = table_hash(kept.file, strlen(kept.file), hash);
  uint32_t at = table_find(&table->by_text, hash, &cursor);
  while (at != TABLE_NONE && !is_same(&table->places[at], &kept))
    at = table_next(&table->by_text, hash, &cursor);
  if (at == TABLE_NONE) {
    int error = add(table, &kept, hash);
    if (error != 0) return error;
    at = table->count - 1;
  }
  *ret = at;
  return 0;
}

static int add_build(struct place_table *table, struct span id, uint64_t hash) {
  if (table->build_count == table->build_room) {
    struct view_build *more = reallocarray(table->builds, table->build_room * 2, sizeof *more);
    if (more == NULL) return -ENOMEM;
    table->builds = more;
    table->build_room *= 2;
  }
  struct view_build *build = &table->builds[table->build_count];
  *build = (struct view_build){.id_len = (uint8_t)id.len};
  memcpy(build->id, id.data, id.len);
  return table_add(&table->by_id, hash, table->build_count++);
}

int place_table_build(struct place_table *table, struct span id, uint32_t *ret) {
  bool is_known = id.len > 0 && id.len <= LIMIT_MODULE_ID_BYTES;
  uint64_t hash = table_hash(id.data, is_known ? id.len : 0, table->seed);
  uint32_t cursor, at = is_known ? table_find(&table->by_id, hash, &cursor) : 0;
  while (is_known && at != TABLE_NONE &&
         !span_is_equal(span_of(table->builds[at].id, table->builds[at].id_len), id))
    at = table_next(&table->by_id, hash, &cursor);
  if (at == TABLE_NONE) {
    int error = add_build(table, id, hash);
    if (error != 0) return error;
    at = table->build_count - 1;
  }
  *ret = at;
  return 0;
}
