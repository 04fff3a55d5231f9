/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's messages about a really damaged file, by a clock that the test sets (--wrap of
   clock_monotonic_ns). */
#include "sqlite/sqlite_log.h"

#include "common/clock.h"
#include "common/log.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE_BYTES = 4096, MANY = 100 };

static uint64_t now_s = 1000;
static char path[64], printed[64 << 10];
static int kept_stderr;
static FILE *log_file;

uint64_t __wrap_clock_monotonic_ns(void);
uint64_t __wrap_clock_monotonic_ns(void) {
  return now_s * NS_PER_SECOND;
}

static int set_up(void **state) {
  (void)state;
  snprintf(path, sizeof path, "/tmp/sqlite_log_test.XXXXXX");
  int fd = mkstemp(path);
  now_s += SQLITE_LOG_PERIOD_S; /* a ration of its own */
  return fd < 0 || close(fd);
}

static int tear_down(void **state) {
  (void)state;
  char name[sizeof path + 8];
  for (const char *const *end = (const char *const[]){"-wal", "-shm", "", NULL}; *end; end++) {
    snprintf(name, sizeof name, "%s%s", path, *end);
    unlink(name);
  }
  log_set_level(LOG_LEVEL_INFO);
  return 0;
}

static void catch_log(void) {
  kept_stderr = dup(STDERR_FILENO);
  log_file = tmpfile();
  assert_non_null(log_file);
  dup2(fileno(log_file), STDERR_FILENO);
}

static void release_log(void) {
  dup2(kept_stderr, STDERR_FILENO);
  close(kept_stderr);
  rewind(log_file);
  printed[fread(printed, 1, sizeof printed - 1, log_file)] = '\0';
  fclose(log_file);
}

static unsigned count(const char *text) {
  unsigned found = 0;
  for (const char *at = printed; (at = strstr(at, text)) != NULL; at++) found++;
  return found;
}

static sqlite3 *open_here(void) {
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  return db;
}

static void fill(sqlite3 *db) {
  const char sql[] = "CREATE TABLE t(x TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT"
                     " i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT 'row ' || i FROM n";
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* A table whose pages are garbage, except the page that lists them. */
static sqlite3 *open_damaged(void) {
  sqlite3 *db = open_here();
  fill(db);
  sqlite3_close(db);
  FILE *file = fopen(path, "r+e");
  assert_non_null(file);
  assert_int_equal(fseek(file, PAGE_BYTES, SEEK_SET), 0);
  for (unsigned i = 0; i < PAGE_BYTES / 2; i++) assert_true(fputs("damaged!", file) >= 0);
  assert_int_equal(fclose(file), 0);
  return open_here();
}

static int read_all(sqlite3 *db) {
  return sqlite3_exec(db, "SELECT sum(length(x)) FROM t", NULL, NULL, NULL);
}

static void a_damaged_file_is_a_warning_with_code_and_text(void **state) {
  (void)state;
  sqlite3 *db = open_damaged();
  catch_log();
  int code = read_all(db);
  release_log();
  sqlite3_close(db);
  assert_int_equal(code, SQLITE_CORRUPT);
  assert_true(count("warn sqlite code 11: database corruption at line ") > 0);
  assert_true(count("SELECT sum(length(x)) FROM t") > 0); /* the actual work */
}

static void what_fails_again_and_again_is_counted_and_no_flood(void **state) {
  (void)state;
  sqlite3 *db = open_damaged();
  catch_log();
  for (unsigned i = 0; i < MANY; i++) read_all(db);
  release_log();
  assert_int_equal(count("\n"), SQLITE_LOG_LINES_MAX);
  now_s += SQLITE_LOG_PERIOD_S - 1;
  catch_log();
  read_all(db);
  release_log();
  assert_int_equal(count("\n"), 0);
  now_s++;
  catch_log();
  read_all(db);
  release_log();
  sqlite3_close(db);
  unsigned long left_out = 0;
  assert_int_equal(sscanf(printed, "warn sqlite code 11: %lu more lines were left out", &left_out),
                   1);
  assert_true(left_out > MANY - SQLITE_LOG_LINES_MAX);
  assert_int_equal(count("left out"), 1);
}

static void one_that_floods_hides_no_other(void **state) {
  (void)state;
  sqlite3 *db = open_damaged();
  catch_log();
  for (unsigned i = 0; i < MANY; i++) read_all(db);
  sqlite3_exec(db, "SELECT y FROM t", NULL, NULL, NULL);
  release_log();
  sqlite3_close(db);
  assert_int_equal(count("warn sqlite code 1: no such column: y"), 1);
}

struct work {
  const char *reading, *meanwhile, *line;
};

/* Reads, does something else before the end, and reads on: SQLite logs LINE. */
static void disturb(const struct work *work) {
  sqlite3_stmt *rows = NULL;
  sqlite3 *db = open_here();
  assert_int_equal(sqlite3_prepare_v2(db, work->reading, -1, &rows, NULL), SQLITE_OK);
  sqlite3_step(rows);
  sqlite3_exec(db, work->meanwhile, NULL, NULL, NULL);
  sqlite3_step(rows);
  sqlite3_finalize(rows);
  sqlite3_close(db);
}

static void what_is_part_of_work_is_at_debug(void **state) {
  static const struct work works[] = {
      {"SELECT x FROM t", "DROP TABLE t", "debug sqlite code 6: "}, /* locked, by ourselves */
      {"SELECT a.x FROM t a, t b WHERE a.x = b.x", "SELECT 1",
       "debug sqlite code 284: "}, /* advice */
  };
  (void)state;
  sqlite3 *db = open_here();
  fill(db);
  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    catch_log();
    disturb(&works[i]);
    release_log();
    assert_string_equal(printed, "");
    log_set_level(LOG_LEVEL_DEBUG);
    catch_log();
    disturb(&works[i]);
    release_log();
    log_set_level(LOG_LEVEL_INFO);
    if (count(works[i].line) == 0) fail_msg("no %s in %s", works[i].line, printed);
  }
  sqlite3_close(db);
}

/* By a process that ends without closing. */
static void what_a_crash_left_is_taken_over_and_no_warning(void **state) {
  (void)state;
  pid_t child = fork();
  if (child == 0) {
    sqlite3 *db = open_here();
    sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    fill(db);
    _exit(0);
  }
  assert_int_equal(waitpid(child, NULL, 0), child);
  sqlite3 *db = open_here();
  catch_log();
  assert_int_equal(read_all(db), SQLITE_OK);
  release_log();
  sqlite3_close(db);
  assert_int_equal(count("info sqlite code 283: recovered "), 1);
  assert_int_equal(count("warn"), 0);
}

static int start(void **state) {
  (void)state;
  sqlite_log_start();
  return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_damaged_file_is_a_warning_with_code_and_text),
      TEST(what_fails_again_and_again_is_counted_and_no_flood),
      TEST(one_that_floods_hides_no_other),
      TEST(what_is_part_of_work_is_at_debug),
      TEST(what_a_crash_left_is_taken_over_and_no_warning),
  };
  return cmocka_run_group_tests(tests, start, NULL);
}
