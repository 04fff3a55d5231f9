/* SPDX-License-Identifier: Apache-2.0 */
/* A database of boards and tokens that is damaged, or of another version. */
#include "identity/access.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
  char dir[64], path[96];
};

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status, (void)type, (void)walk;
  return remove(path);
}

static struct access *open_access(const struct world *world) {
  struct access *access = NULL;
  char error[512] = "";
  if (access_open(world->dir, &access, error, sizeof error) != 0) fail_msg("%s", error);
  return access;
}

static int set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  snprintf(world->dir, sizeof world->dir, "/tmp/access_damage_test.XXXXXX");
  if (mkdtemp(world->dir) == NULL) return -1;
  snprintf(world->path, sizeof world->path, "%s/access.db", world->dir);
  struct access *access = open_access(world);
  assert_int_equal(access_revoke(access, "gone"), 0);
  access_close(access);
  *state = world;
  return 0;
}

static int tear_down(void **state) {
  struct world *world = *state;
  nftw(world->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  free(world);
  return 0;
}

static void run_sql(const struct world *world, const char *sql) {
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open(world->path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static void set_version(const struct world *world, int version) {
  char sql[64];
  snprintf(sql, sizeof sql, "PRAGMA user_version=%d", version);
  run_sql(world, sql);
}

static int version_of(const struct world *world) {
  sqlite3 *db = NULL;
  sqlite3_stmt *row = NULL;
  assert_int_equal(sqlite3_open(world->path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &row, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(row), SQLITE_ROW);
  int version = sqlite3_column_int(row, 0);
  sqlite3_finalize(row);
  sqlite3_close(db);
  return version;
}

static int admit(struct access *access, int64_t signed_s) {
  const struct access_certificate certificate = {.signed_s = signed_s};
  char why[128];
  return access_admit(access, "press-7", &certificate, why, sizeof why);
}

static void assert_refused(const struct world *world, int expected, const char *words) {
  struct access *access = NULL;
  char error[512] = "";
  assert_int_equal(access_open(world->dir, &access, error, sizeof error), expected);
  if (strstr(error, words) == NULL) fail_msg("%s", error);
}

static void a_damaged_one_is_refused_rather_than_begun_anew(void **state) {
  const struct world *world = *state;
  int fd = open(world->path, O_WRONLY);
  for (off_t at = 4096; at < 3 * 4096; at += 8) assert_int_equal(pwrite(fd, "damaged!", 8, at), 8);
  close(fd);
  assert_refused(world, -EUCLEAN, "is damaged; restore a backup");
  fd = open(world->path, O_WRONLY | O_TRUNC);
  for (int i = 0; i < 1000; i++) assert_int_equal(write(fd, "no database", 11), 11);
  close(fd);
  assert_refused(world, -EUCLEAN, "is damaged; restore a backup");
}

static void a_newer_one_is_refused_untouched(void **state) {
  const struct world *world = *state;
  set_version(world, ACCESS_VERSION + 1);
  assert_refused(world, -EPROTO, "written by a newer fleetprof");
  set_version(world, ACCESS_VERSION);
  access_close(open_access(world));
}

static void one_of_before_versions_were_marked_is_upgraded(void **state) {
  const struct world *world = *state;
  run_sql(world, "ALTER TABLE boards DROP COLUMN used_from_s; PRAGMA user_version=0");
  struct access *access = open_access(world);
  assert_true(access_is_revoked(access, "gone"));
  assert_int_equal(admit(access, 1767268800), 0);
  access_close(access);
  assert_int_equal(version_of(world), ACCESS_VERSION);
  access_close(open_access(world));
}

/* Version 1 has noted when the validity of a certificate begins, a day before it was signed. */
static void what_version_1_has_noted_of_certificates_is_earlier(void **state) {
  enum { SIGNED_S = 1767268800, DAY_S = 86400 };
  const struct world *world = *state;
  struct access *access = open_access(world);
  assert_int_equal(admit(access, SIGNED_S - DAY_S), 0);
  access_close(access);
  set_version(world, 1);
  access = open_access(world);
  assert_int_equal(version_of(world), ACCESS_VERSION);
  assert_int_equal(admit(access, SIGNED_S - DAY_S - 1), -ESTALE);
  assert_int_equal(admit(access, SIGNED_S), 0);
  assert_int_equal(admit(access, SIGNED_S - 1), -ESTALE);
  access_close(access);
}

static void what_earlier_versions_left_is_upgraded(void **state) {
  struct world *world = *state;
  for (unsigned version = 1; version <= 3; version++) {
    char command[256];
    snprintf(command, sizeof command,
             "rm -f %s*; tar -xzf " TEST_DATA "/golden/stores/v%u.tar.gz -C %s ./access.db",
             world->path, version, world->dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(version_of(world), version / 3); /* 0, 0, 1 */
    struct access *access = open_access(world);
    assert_true(access_is_revoked(access, "gone"));
    assert_int_equal(admit(access, 1767268800), 0);
    access_close(access);
    assert_int_equal(version_of(world), ACCESS_VERSION);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_damaged_one_is_refused_rather_than_begun_anew),
      TEST(a_newer_one_is_refused_untouched),
      TEST(one_of_before_versions_were_marked_is_upgraded),
      TEST(what_version_1_has_noted_of_certificates_is_earlier),
      TEST(what_earlier_versions_left_is_upgraded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
