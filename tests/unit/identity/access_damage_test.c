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
  run_sql(world, "PRAGMA user_version=2");
  assert_refused(world, -EPROTO, "written by a newer fleetprof");
  run_sql(world, "PRAGMA user_version=1");
  access_close(open_access(world));
}

static void one_of_before_versions_were_marked_is_upgraded(void **state) {
  const struct world *world = *state;
  run_sql(world, "ALTER TABLE boards DROP COLUMN used_from_s; PRAGMA user_version=0");
  const struct access_certificate certificate = {.signed_s = 1767268800};
  char why[128];
  struct access *access = open_access(world);
  assert_true(access_is_revoked(access, "gone"));
  assert_int_equal(access_admit(access, "press-7", &certificate, why, sizeof why), 0);
  access_close(access);
  access_close(open_access(world));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_damaged_one_is_refused_rather_than_begun_anew),
      TEST(a_newer_one_is_refused_untouched),
      TEST(one_of_before_versions_were_marked_is_upgraded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
