/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of one database, and of one that others have open; and the file that a path meant. */
#include "sqlite/marks.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { ATTEMPTS_MAX = 1000 };

static char dir[64], path[96];
static sqlite3_mem_methods memory;
static unsigned until_failure; /* of SQLite's allocations; 0: none fails */

static bool is_failing(void) {
  return until_failure > 0 && --until_failure == 0;
}

static void *failing_malloc(int len) {
  return is_failing() ? NULL : memory.xMalloc(len);
}

static void *failing_realloc(void *old, int len) {
  return is_failing() ? NULL : memory.xRealloc(old, len);
}

static int set_up(void **state) {
  sqlite3 *db = NULL;
  snprintf(dir, sizeof dir, "/tmp/marks_test.XXXXXX");
  if (mkdtemp(dir) == NULL) return -1;
  snprintf(path, sizeof path, "%s/a.db", dir);
  if (sqlite3_open(path, &db) != SQLITE_OK) return -1;
  sqlite3_exec(db, "PRAGMA journal_mode=WAL; CREATE TABLE other(a)", NULL, NULL, NULL);
  *state = db;
  return 0;
}

static int tear_down(void **state) {
  sqlite3_close(*state);
  unlink(path);
  rmdir(dir);
  return 0;
}

static void a_mark_only_rises_unless_it_is_written(void **state) {
  sqlite3 *db = *state;
  uint64_t value = 9;
  assert_int_equal(marks_read(db, "a", &value), 0); /* no table */
  assert_int_equal(value, 0);
  assert_int_equal(sqlite3_exec(db, MARKS_SCHEMA, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(marks_raise(db, "a", 5), 0);
  assert_int_equal(marks_raise(db, "a", 3), 0);
  assert_int_equal(marks_read(db, "a", &value), 1);
  assert_int_equal(value, 5);
  assert_int_equal(marks_write(db, "a", 3), 0);
  assert_int_equal(marks_read(db, "a", &value), 1);
  assert_int_equal(value, 3);
  assert_int_equal(marks_forget(db, "a"), 0);
  assert_int_equal(marks_read(db, "a", &value), 0);
}

static void others_read_and_note_beside_who_has_it_open(void **state) {
  sqlite3 *db = *state;
  uint64_t value = 0;
  assert_int_equal(marks_note(dir, "a.db", "a", 1), -ENOENT); /* no table */
  assert_int_equal(marks_note(dir, "b.db", "a", 1), -ENOENT); /* no file, and none is made */
  assert_int_equal(marks_peek(dir, "b.db", "a", &value), -ENOENT);
  assert_int_equal(sqlite3_exec(db, MARKS_SCHEMA, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(marks_note(dir, "a.db", "a", UINT64_C(1) << 62), 0);
  assert_int_equal(marks_peek(dir, "a.db", "a", &value), 1);
  assert_true(value == UINT64_C(1) << 62);
  assert_int_equal(marks_read(db, "a", &value), 1);
}

static void a_file_that_is_replaced_or_cut_does_not_hold(void **state) {
  struct marks_file file;
  char other[128], command[512];
  (void)state;
  assert_int_equal(marks_file_take(path, &file), 0);
  assert_true(marks_file_holds(path, &file, NULL));
  snprintf(other, sizeof other, "%s.new", path);
  snprintf(command, sizeof command, "cp '%s' '%s' && mv '%s' '%s'", path, other, other, path);
  assert_int_equal(system(command), 0);
  assert_false(marks_file_holds(path, &file, NULL));
  assert_int_equal(marks_file_take(path, &file), 0);
  assert_int_equal(truncate(path, file.bytes + 4096), 0); /* it grew */
  assert_true(marks_file_holds(path, &file, NULL));
  assert_int_equal(truncate(path, file.bytes - 4096), 0);
  assert_false(marks_file_holds(path, &file, NULL));
  unlink(path);
  assert_false(marks_file_holds(path, &file, NULL));
}

static int is_named_a(void *context, const char *name, uint64_t value) {
  assert_string_equal(name, "a");
  assert_int_equal(value, 7);
  return ++*(int *)context;
}

/* A mark that is not found for want of memory would call the file that it is of another store's. */
static void a_failing_allocation_hides_no_mark(void **state) {
  sqlite3 *db = *state;
  assert_int_equal(sqlite3_exec(db, MARKS_SCHEMA, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(marks_write(db, "a", 7), 0);
  unsigned refused = 0, n = 1;
  for (bool has_failed = true; has_failed && n < ATTEMPTS_MAX; n++) {
    uint64_t value = 0;
    int calls = 0;
    until_failure = n;
    int row = marks_read(db, "a", &value);
    assert_true(row == 1 ? value == 7 : row == -ENOMEM);
    refused += row < 0;
    int each = marks_each(db, is_named_a, &calls);
    assert_true(each == 1 || each == -ENOMEM);
    int error = marks_write(db, "a", 7);
    assert_true(error == 0 || error == -ENOMEM);
    has_failed = until_failure == 0;
    until_failure = 0;
  }
  assert_true(refused > 3);
  assert_true(n < ATTEMPTS_MAX);
}

static void write_wal(const char *name, off_t bytes) {
  FILE *file = fopen(name, "we");
  assert_non_null(file);
  assert_int_equal(ftruncate(fileno(file), bytes), 0);
  fclose(file);
}

static void a_file_whose_wal_is_taken_away_replaced_or_cut_does_not_hold(void **state) {
  struct marks_file file, kept;
  char wal[128], other[128];
  (void)state;
  snprintf(wal, sizeof wal, "%s-wal", path);
  snprintf(other, sizeof other, "%s-other", path);
  unlink(wal);
  assert_int_equal(marks_file_take(path, &file), 0);
  assert_true(marks_file_holds(path, &file, NULL)); /* none so far */
  write_wal(wal, MARKS_WAL_BYTES_KEPT * 2);
  assert_true(marks_file_holds(path, &file, NULL));
  assert_int_equal(truncate(wal, MARKS_WAL_BYTES_KEPT), 0); /* as SQLite does */
  assert_true(marks_file_holds(path, &file, NULL));
  kept = file;
  assert_int_equal(truncate(wal, MARKS_WAL_BYTES_KEPT - 1), 0);
  assert_false(marks_file_holds(path, &file, NULL));
  file = kept;
  write_wal(other, MARKS_WAL_BYTES_KEPT);
  assert_int_equal(rename(other, wal), 0);
  assert_false(marks_file_holds(path, &file, NULL));
  file = kept;
  unlink(wal);
  assert_false(marks_file_holds(path, &file, NULL));
}

static void run_sql(sqlite3 *db, const char *sql) {
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* By an operator: `sqlite3 a.db 'PRAGMA wal_checkpoint(TRUNCATE)'`. */
static void truncate_by_checkpoint(void) {
  sqlite3 *other = NULL;
  assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
  run_sql(other, "PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite3_close(other);
}

static void a_wal_that_a_checkpoint_truncated_is_whole(void **state) {
  sqlite3 *db = *state;
  struct marks_file file, kept;
  struct stat status;
  char wal[128];
  snprintf(wal, sizeof wal, "%s-wal", path);
  assert_int_equal(marks_file_take(path, &file), 0);
  kept = file;
  truncate_by_checkpoint();
  assert_int_equal(stat(wal, &status), 0);
  assert_int_equal(status.st_size, 0);
  assert_false(marks_file_holds(path, &kept, NULL)); /* nothing says that it is whole */
  assert_true(marks_file_holds(path, &file, db));
  run_sql(db, "INSERT INTO other VALUES(randomblob(20000))");
  assert_true(marks_file_holds(path, &file, db));
  kept = file;
  truncate_by_checkpoint();
  run_sql(db, "INSERT INTO other VALUES(1)"); /* before the next look, and shorter */
  assert_int_equal(stat(wal, &status), 0);
  assert_true(status.st_size > 0 && status.st_size < kept.wal_bytes);
  assert_true(marks_file_holds(path, &file, db));
  assert_int_equal(truncate(wal, status.st_size - 1), 0);
  assert_false(marks_file_holds(path, &file, db));
  assert_int_equal(truncate(wal, 0), 0);
  assert_false(marks_file_holds(path, &file, db));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_mark_only_rises_unless_it_is_written),
      TEST(others_read_and_note_beside_who_has_it_open),
      TEST(a_file_that_is_replaced_or_cut_does_not_hold),
      TEST(a_failing_allocation_hides_no_mark),
      TEST(a_wal_that_a_checkpoint_truncated_is_whole),
      TEST(a_file_whose_wal_is_taken_away_replaced_or_cut_does_not_hold),
  };
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory);
  sqlite3_mem_methods failing = memory;
  failing.xMalloc = failing_malloc;
  failing.xRealloc = failing_realloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0); /* each allocation may fail */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
