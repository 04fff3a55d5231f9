/* SPDX-License-Identifier: Apache-2.0 */
/* If access.db is missing, empty, older, or another collector's, no board or user gets access, at
   start and while it is open, until an operator accepts the loss. */
#include "identity/access.h"
#include "identity/access_loss.h"
#include "identity/access_tokens.h"

#include "sqlite/marks.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
  char dir[64], path[96], older[96];
  struct access *access;
};

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status, (void)type, (void)walk;
  return remove(path);
}

static int open_access(struct world *world) {
  char error[512] = "";
  int result = access_open(world->dir, &world->access, error, sizeof error);
  if (result != 0) world->access = NULL;
  return result;
}

static void close_access(struct world *world) {
  access_close(world->access);
  world->access = NULL;
}

static void copy_file(const char *from, const char *to) {
  char command[512];
  snprintf(command, sizeof command, "cp '%s' '%s.new' && mv '%s.new' '%s'", from, to, to, to);
  assert_int_equal(system(command), 0);
}

/* The landing database's copy of its marks. */
static void make_landing(const struct world *world, uint64_t store) {
  char path[96];
  sqlite3 *db = NULL;
  snprintf(path, sizeof path, "%s/landing.db", world->dir);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode=WAL;" MARKS_SCHEMA, NULL, NULL, NULL),
                   SQLITE_OK);
  assert_int_equal(marks_write(db, MARKS_STORE, store), 0);
  sqlite3_close(db);
}

static int set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  snprintf(world->dir, sizeof world->dir, "/tmp/access_marks_test.XXXXXX");
  if (mkdtemp(world->dir) == NULL) return -1;
  snprintf(world->path, sizeof world->path, "%s/access.db", world->dir);
  snprintf(world->older, sizeof world->older, "%s/older", world->dir);
  make_landing(world, 77);
  assert_int_equal(open_access(world), 0);
  close_access(world);
  copy_file(world->path, world->older);
  assert_int_equal(open_access(world), 0);
  assert_int_equal(access_revoke(world->access, "thief"), 0);
  *state = world;
  return 0;
}

static int tear_down(void **state) {
  struct world *world = *state;
  close_access(world);
  nftw(world->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  free(world);
  return 0;
}

static int admit(struct world *world, const char *board) {
  const struct access_certificate certificate = {.signed_s = 1};
  char why[128];
  return access_admit(world->access, board, &certificate, why, sizeof why);
}

static void a_lost_file_is_no_first_start(void **state) {
  struct world *world = *state;
  static const int refusals[] = {-ENODATA, -ENODATA, -ESTALE};
  char error[512];
  close_access(world);
  for (unsigned way = 0; way < 3; way++) {
    if (way == 0) assert_int_equal(unlink(world->path), 0);
    if (way == 1) assert_int_equal(creat(world->path, 0600) >= 0 ? 0 : -1, 0);
    if (way == 2) copy_file(world->older, world->path);
    assert_int_equal(open_access(world), refusals[way]);
    assert_int_equal(open_access(world), refusals[way]); /* looking changes nothing */
    access_open(world->dir, &world->access, error, sizeof error);
    assert_non_null(strstr(error, "restore a backup, or run fleetprof-collector accept"));
  }
  assert_int_equal(access_accept(world->dir, error, sizeof error), 0);
  assert_int_equal(open_access(world), 0);
  assert_int_equal(admit(world, "thief"), 0); /* as was accepted */
  assert_int_equal(access_revoke(world->access, "thief"), 0);
  close_access(world);
  assert_int_equal(open_access(world), 0);
  assert_int_equal(admit(world, "thief"), -EACCES);
}

static void another_collectors_file_is_refused(void **state) {
  struct world *world = *state;
  close_access(world);
  make_landing(world, 78);
  assert_int_equal(open_access(world), -EXDEV);
}

static void a_file_that_is_ahead_is_taken(void **state) {
  struct world *world = *state;
  sqlite3 *db = NULL;
  assert_int_equal(marks_open(world->dir, "landing.db", &db), 0);
  assert_int_equal(marks_write(db, MARKS_ACCESS, 1), 0); /* killed before it was noted */
  sqlite3_close(db);
  close_access(world);
  assert_int_equal(open_access(world), 0);
  uint64_t noted = 0;
  assert_int_equal(marks_peek(world->dir, "landing.db", MARKS_ACCESS, &noted), 1);
  assert_true(noted > 1);
}

static void each_change_of_rights_is_noted(void **state) {
  struct world *world = *state;
  char token[ACCESS_TOKEN_BYTES], board[160], why[128];
  uint8_t fingerprint[32] = {1};
  uint64_t before = 0, after = 0;
  for (unsigned step = 0; step < 5; step++) {
    assert_int_equal(marks_peek(world->dir, "landing.db", MARKS_ACCESS, &before), 1);
    if (step == 0)
      assert_int_equal(
          access_token_make(world->access, ROLE_ENROLL, NULL, 1000000000000, fingerprint, token),
          0);
    if (step == 1)
      assert_int_equal(access_enrol(world->access, token, board, sizeof board, why, sizeof why), 0);
    if (step == 2) assert_int_equal(access_token_revoke(world->access, token), 0);
    if (step == 3) assert_int_equal(access_revoke(world->access, "unseen"), 0);
    if (step == 4) assert_int_equal(access_restore(world->access, "unseen"), 0);
    assert_int_equal(marks_peek(world->dir, "landing.db", MARKS_ACCESS, &after), 1);
    if (after <= before) fail_msg("step %u is not noted", step);
  }
}

static void a_file_that_changes_under_us_lets_nobody_in(void **state) {
  struct world *world = *state;
  assert_int_equal(admit(world, "honest"), 0);
  assert_null(access_fault(world->access));
  copy_file(world->older, world->path);
  assert_int_equal(admit(world, "thief"), -EIO);
  assert_int_equal(admit(world, "honest"), -EIO);
  assert_true(access_is_revoked(world->access, "honest"));
  assert_non_null(access_fault(world->access));
}

static void a_root_that_was_never_here_is_refused(void **state) {
  struct world *world = *state;
  assert_int_equal(access_check_roots(world->access, 0, 0, false), 0);
  assert_int_equal(access_check_roots(world->access, 5, 0, false), 0);
  assert_int_equal(access_check_roots(world->access, 0, 0, false), 1);
  assert_int_equal(access_check_roots(world->access, 5, 6, false), 0); /* a rollover begins */
  assert_int_equal(access_check_roots(world->access, 6, 0, false), 0); /* and ends */
  assert_int_equal(access_check_roots(world->access, 7, 0, false), -EXDEV);
  assert_int_equal(access_check_roots(world->access, 7, 0, true), 0);
  assert_int_equal(access_check_roots(world->access, 7, 0, false), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_lost_file_is_no_first_start),
      TEST(another_collectors_file_is_refused),
      TEST(a_file_that_is_ahead_is_taken),
      TEST(each_change_of_rights_is_noted),
      TEST(a_file_that_changes_under_us_lets_nobody_in),
      TEST(a_root_that_was_never_here_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
