/* SPDX-License-Identifier: Apache-2.0 */
/* A series is (labels, type), and a board's next window has mostly the same series. A lookup by
   label text, some two hundred bytes, searches an index of all boards' threads. So a cache keeps
   the row ids in front of it. Its keys are 128 bits of SipHash, under keys that boards do not have,
   instead of the texts, because a fleet has a hundred thousand.

   The table starts small and doubles when a set is full, up to CELLS_MAX. */
#include "series_table.h"

#include "db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(SIPHASH_KEY_BYTES == 2 * sizeof(uint64_t), "a key is two words");

enum {
  WAYS = 4,
  SETS_FIRST = 256,
  CELLS_MAX = 1 << 17, /* 4 MiB */
};

struct series_cell {
  uint64_t hash[2];
  uint64_t id; /* 0: a free cell */
  uint32_t type;
};

static const char *const series_sql[SERIES_STATEMENTS] = {
    [SERIES_FIND] = "SELECT id FROM series WHERE labels=? AND type=?",
    [SERIES_ADD] = "INSERT INTO series(labels,type) VALUES(?,?)",
};

/* Derives two keys from the file's key, so that these hashes reveal nothing about node hashes,
   which leave the collector. */
static void make_keys(struct series_table *table, const uint8_t key[SIPHASH_KEY_BYTES]) {
  static const char *const names[2][2] = {{"series 1", "series 2"}, {"series 3", "series 4"}};
  for (int i = 0; i < 2; i++) {
    uint64_t words[2];
    for (int j = 0; j < 2; j++) words[j] = siphash(key, span_of_string(names[i][j]));
    memcpy(table->keys[i], words, sizeof words);
  }
}

int series_table_open(sqlite3 *db, const uint8_t key[SIPHASH_KEY_BYTES], struct series_table *ret) {
  ret->db = db;
  ret->sets = SETS_FIRST;
  make_keys(ret, key);
  ret->cells = calloc((size_t)ret->sets * WAYS, sizeof *ret->cells);
  if (ret->cells == NULL) return -ENOMEM;
  return db_prepare_all(db, series_sql, SERIES_STATEMENTS, ret->statements);
}

void series_table_close(struct series_table *table) {
  db_finalize_all(table->statements, SERIES_STATEMENTS);
  free(table->cells);
}

static struct series_cell *set_of(const struct series_table *table,
                                  const struct series_cell *cell) {
  return &table->cells[(cell->hash[0] & (table->sets - 1)) * WAYS];
}

static bool is_same(const struct series_cell *a, const struct series_cell *b) {
  return a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1] && a->type == b->type;
}

/* Puts CELL at the front of SET in place of the cell at AT; those before it move back by one. */
static void put_first(struct series_cell *set, uint32_t at, struct series_cell cell) {
  memmove(&set[1], &set[0], at * sizeof *set);
  set[0] = cell;
}

static bool find_cached(struct series_cell *set, struct series_cell *cell) {
  for (uint32_t i = 0; i < WAYS && set[i].id != 0; i++) {
    if (!is_same(&set[i], cell)) continue;
    *cell = set[i];
    put_first(set, i, *cell);
    return true;
  }
  return false;
}

/* Splits every set in two, keeping the order within sets. */
static void grow(struct series_table *table) {
  struct series_table larger = {.sets = 2 * table->sets};
  if ((size_t)larger.sets * WAYS > CELLS_MAX) return;
  larger.cells = calloc((size_t)larger.sets * WAYS, sizeof *larger.cells);
  if (larger.cells == NULL) return;
  for (size_t i = (size_t)table->sets * WAYS; i-- > 0;)
    if (table->cells[i].id != 0)
      put_first(set_of(&larger, &table->cells[i]), WAYS - 1, table->cells[i]);
  free(table->cells);
  table->cells = larger.cells;
  table->sets = larger.sets;
}

static void keep(struct series_table *table, const struct series_cell *cell) {
  if (set_of(table, cell)[WAYS - 1].id != 0) grow(table);
  put_first(set_of(table, cell), WAYS - 1, *cell);
}

static int find_or_add_row(struct series_table *table, const char *labels, uint32_t type,
                           uint64_t *ret) {
  sqlite3_stmt *find = table->statements[SERIES_FIND], *add = table->statements[SERIES_ADD];
  db_bind_text(find, 1, labels);
  db_bind_u64(find, 2, type);
  int row = db_step(find);
  if (row < 0) return row;
  if (row == 1) {
    *ret = db_u64(find, 0);
    sqlite3_reset(find);
    return 0;
  }
  db_bind_text(add, 1, labels);
  db_bind_u64(add, 2, type);
  int error = db_run(add);
  if (error == 0) *ret = (uint64_t)sqlite3_last_insert_rowid(table->db);
  return error;
}

int series_table_map(struct series_table *table, const char *labels, uint32_t type, uint64_t *ret) {
  struct span text = span_of_string(labels);
  struct series_cell cell = {.type = type};
  for (int i = 0; i < 2; i++) cell.hash[i] = siphash(table->keys[i], text);
  if (!find_cached(set_of(table, &cell), &cell)) {
    int error = find_or_add_row(table, labels, type, &cell.id);
    if (error != 0) return error;
    if (cell.id == 0) return -EUCLEAN;
    keep(table, &cell);
  }
  *ret = cell.id;
  return 0;
}
