/* SPDX-License-Identifier: Apache-2.0 */
#include "day_fixture.h"

#include <sqlite3.h>

bool has_file(const struct world *world, enum day_kind kind) {
  return day_folder_bytes(world->dir, kind, day_of(NOON_MS)) > 0;
}

void append_hours(struct world *world, const char *board, unsigned hours) {
  for (unsigned i = 0; i < hours * 10; i++)
    assert_int_equal(append_new(world->store, board, 1, i + 1, NOON_MS + i * 360000ULL),
                     STORE_STORED);
}

int retain_by_age(struct world *world, uint64_t windows_ms, uint64_t minutes_ms) {
  const struct store_keep kept = {.windows_ms = windows_ms, .minutes_ms = minutes_ms};
  return store_retain(world->store, &kept);
}

uint64_t ask_day(const struct world *world, enum day_kind kind, const char *sql) {
  char path[DAY_PATH_BYTES];
  sqlite3 *db = NULL;
  sqlite3_stmt *ask = NULL;
  day_folder_path(world->dir, kind, day_of(NOON_MS), path);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &ask, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(ask), SQLITE_ROW);
  uint64_t number = (uint64_t)sqlite3_column_int64(ask, 0);
  sqlite3_finalize(ask);
  sqlite3_close(db);
  return number;
}

uint64_t count_windows(const struct world *world) {
  return ask_day(world, DAY_WINDOWS, "SELECT count(*) FROM block");
}

void change_file(const char *path, const char *sql) {
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}
