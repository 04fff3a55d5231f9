/* SPDX-License-Identifier: Apache-2.0 */
/* Series of a day file: one row for each text and type, found without reading the file if recently
   used. */
#include "store/series_table.h"

#include "store/db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const uint8_t key[SIPHASH_KEY_BYTES] = "0123456789abcdef";
static char path[64];
static sqlite3 *db;
static struct series_table table;

static void open_table(void) {
  table = (struct series_table){0};
  assert_int_equal(series_table_open(db, key, &table), 0);
}

static int set_up(void **state) {
  (void)state;
  snprintf(path, sizeof path, "/tmp/series_table_test.XXXXXX");
  close(mkstemp(path));
  if (db_open(path, true, &db) != 0 || db_schema(db, SERIES_TABLE_SCHEMA, 1) != 0) return -1;
  open_table();
  return db_exec(db, "BEGIN");
}

static int tear_down(void **state) {
  (void)state;
  db_exec(db, "COMMIT");
  series_table_close(&table);
  db_close(db);
  unlink(path);
  return 0;
}

static uint64_t map(const char *labels, uint32_t type) {
  uint64_t id = 0;
  assert_int_equal(series_table_map(&table, labels, type, &id), 0);
  return id;
}

static uint64_t map_board(unsigned board) {
  char labels[64];
  snprintf(labels, sizeof labels, "board=edge-%u\nservice=tool\n", board);
  return map(labels, 0);
}

static int looked_up(void) {
  return sqlite3_stmt_status(table.statements[SERIES_FIND], SQLITE_STMTSTATUS_RUN, 1);
}

static void a_text_and_a_type_are_one_series_for_ever(void **state) {
  (void)state;
  uint64_t first = map("board=a\n", 0), typed = map("board=a\n", 1), other = map("board=b\n", 0);
  assert_true(first != typed && first != other && typed != other);
  assert_int_equal(looked_up(), 3);
  for (int round = 0; round < 2; round++) {
    assert_int_equal(map("board=a\n", 0), first);
    assert_int_equal(map("board=a\n", 1), typed);
    assert_int_equal(map("board=b\n", 0), other);
    assert_int_equal(looked_up(), round == 0 ? 0 : 3);
    if (round > 0) break;
    series_table_close(&table);
    open_table();
  }
}

static void a_fleets_series_are_looked_up_once(void **state) {
  enum { BOARDS = 40000 };
  (void)state;
  for (int round = 0; round < 2; round++) {
    for (unsigned i = 0; i < BOARDS; i++) assert_int_equal(map_board(i), i + 1);
    if (round == 0) assert_int_equal(looked_up(), BOARDS);
  }
  assert_in_range(looked_up(), 0, BOARDS / 20);
}

static void more_than_there_is_room_for_are_still_told_apart(void **state) {
  enum { BOARDS = 200000 };
  (void)state;
  for (int round = 0; round < 2; round++)
    for (unsigned i = 0; i < BOARDS; i++) assert_int_equal(map_board(i), i + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_text_and_a_type_are_one_series_for_ever),
      TEST(a_fleets_series_are_looked_up_once),
      TEST(more_than_there_is_room_for_are_still_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
