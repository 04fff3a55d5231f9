/* SPDX-License-Identifier: Apache-2.0 */
#include "sqlite/sqlite_check.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];
static sqlite3 *db;

static int set_up(void **state) {
  (void)state;
  snprintf(path, sizeof path, "/tmp/sqlite_check_test.XXXXXX");
  int fd = mkstemp(path);
  if (fd < 0 || close(fd) != 0 || sqlite3_open(path, &db) != SQLITE_OK) return -1;
  return sqlite3_exec(db,
                      "CREATE TABLE t(x TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT"
                      " i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT 'row ' || i FROM n",
                      NULL, NULL, NULL);
}

static int tear_down(void **state) {
  (void)state;
  sqlite3_close(db);
  return unlink(path);
}

static void overwrite(long at, const char *with, size_t count) {
  FILE *file = fopen(path, "r+e");
  assert_non_null(file);
  assert_int_equal(fseek(file, at, SEEK_SET), 0);
  for (size_t i = 0; i < count; i++) assert_true(fputs(with, file) >= 0);
  assert_int_equal(fclose(file), 0);
  sqlite3_close(db);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
}

static void a_sound_one_is_sound(void **state) {
  (void)state;
  assert_int_equal(sqlite_check(db), 0);
}

static void damaged_pages_are_damage(void **state) {
  (void)state;
  overwrite(4096, "damaged!", 1024);
  assert_int_equal(sqlite_check(db), -EUCLEAN);
}

static void what_is_no_database_is_damage(void **state) {
  (void)state;
  overwrite(0, "no database ", 10);
  assert_int_equal(sqlite_check(db), -EUCLEAN);
}

static void one_that_is_locked_is_busy_and_not_damaged(void **state) {
  (void)state;
  sqlite3 *other = NULL;
  assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
  assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(sqlite_check(db), -EBUSY);
  sqlite3_close(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_sound_one_is_sound),
      TEST(damaged_pages_are_damage),
      TEST(what_is_no_database_is_damage),
      TEST(one_that_is_locked_is_busy_and_not_damaged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
