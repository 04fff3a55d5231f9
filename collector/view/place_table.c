/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source, interned: what a tree node says of where in its function it is.  Only answers
   that tell lines apart fill it. */
#include "place_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FIRST_ROOM = 16 };

int place_table_init(struct place_table *table) {
  *table = (struct place_table){.room = FIRST_ROOM};
  if (getrandom(&table->seed, sizeof table->seed, 0) < 0) return -errno;
  table->places = calloc(FIRST_ROOM, sizeof *table->places);
  if (table->places == NULL) return -ENOMEM;
  table->count = 1;
  return 0;
}

void place_table_fini(struct place_table *table) {
  table_fini(&table->by_text);
  free(table->places);
}

static bool is_same(const struct view_place *a, const struct view_place *b) {
  if (a->line != b->line) return false;
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

int place_table_intern(struct place_table *table, const struct view_place *wanted, uint32_t *ret) {
  uint64_t hash = table_hash(&wanted->line, sizeof wanted->line, table->seed);
  uint32_t cursor;
  if (wanted->file == NULL && wanted->line == 0) {
    *ret = 0;
    return 0;
  }
  if (wanted->file != NULL) hash = table_hash(wanted->file, strlen(wanted->file), hash);
  uint32_t at = table_find(&table->by_text, hash, &cursor);
  while (at != TABLE_NONE && !is_same(&table->places[at], wanted))
    at = table_next(&table->by_text, hash, &cursor);
  if (at == TABLE_NONE) {
    int error = add(table, wanted, hash);
    if (error != 0) return error;
    at = table->count - 1;
  }
  *ret = at;
  return 0;
}
