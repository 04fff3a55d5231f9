/* SPDX-License-Identifier: Apache-2.0 */
/* A catalogue of debug files that is damaged, or of another version. */
#include "names/debug_db.h"
#include "names/debug_store.h"
#include "names/debug_store_parts.h"
#include "names/names_metrics.h"

#include "common/buf.h"
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
  char dir[64];
};

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status, (void)type, (void)walk;
  return remove(path);
}

static const char *path_of(const struct world *world, const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", world->dir, name);
  return path;
}

static struct debug_store *open_debug(const struct world *world) {
  struct debug_store *store = NULL;
  char error[512] = "";
  if (debug_store_open(world->dir, &store, error, sizeof error) != 0) fail_msg("%s", error);
  return store;
}

static int set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  snprintf(world->dir, sizeof world->dir, "/tmp/debug_damage_test.XXXXXX");
  if (mkdtemp(world->dir) == NULL) return -1;
  debug_store_close(open_debug(world));
  *state = world;
  return 0;
}

static int tear_down(void **state) {
  struct world *world = *state;
  nftw(world->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  free(world);
  return 0;
}

static void overwrite(const char *path, off_t from, off_t to) {
  int fd = open(path, O_WRONLY | O_CREAT, 0600);
  for (off_t at = from; at < to; at += 8) assert_int_equal(pwrite(fd, "damaged!", 8, at), 8);
  close(fd);
}

static const char file_name[] =
    "debug/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/* Without the catalogue the cleanup would treat every file as foreign and delete it. */
static void a_damaged_catalogue_is_set_aside_with_its_files(void **state) {
  const struct world *world = *state;
  struct buf metrics = {0};
  char aside[128];
  for (unsigned i = 0; i < 2; i++) {
    overwrite(path_of(world, file_name), 0, 8);
    overwrite(path_of(world, "debug.db"), i == 0 ? 4096 : 0, 16384);
    struct debug_store *store = open_debug(world);
    names_metrics_print(store, &metrics);
    assert_non_null(strstr(buf_text(&metrics), "fleetprof_names_set_aside_total 1\n"));
    buf_clear(&metrics);
    debug_store_close(store);
    snprintf(aside, sizeof aside, "debug.corrupt-%u/%s", i, strchr(file_name, '/') + 1);
    assert_int_equal(access(path_of(world, aside), F_OK), 0);
    snprintf(aside, sizeof aside, "debug.db.corrupt-%u", i);
    assert_int_equal(access(path_of(world, aside), F_OK), 0);
    assert_int_equal(access(path_of(world, file_name), F_OK), -1);
    debug_store_close(open_debug(world)); /* the new catalogue is sound */
  }
  buf_fini(&metrics);
}

static void a_newer_catalogue_is_refused_untouched(void **state) {
  const struct world *world = *state;
  struct debug_store *store = open_debug(world);
  char error[512] = "", mark[64];
  snprintf(mark, sizeof mark, "PRAGMA user_version = %d", DEBUG_DB_VERSION + 1);
  debug_db_run(debug_store_lock(store), mark, "");
  debug_store_unlock(store);
  debug_store_close(store);
  overwrite(path_of(world, file_name), 0, 8);
  assert_int_equal(debug_store_open(world->dir, &store, error, sizeof error), -EPROTO);
  if (strstr(error, "written by a newer fleetprof") == NULL) fail_msg("%s", error);
  assert_int_equal(access(path_of(world, file_name), F_OK), 0); /* not swept away */
}

static void a_catalogue_that_is_gone_takes_no_file_along(void **state) {
  const struct world *world = *state;
  overwrite(path_of(world, file_name), 0, 8);
  assert_int_equal(unlink(path_of(world, "debug.db")), 0);
  struct debug_store *store = open_debug(world);
  assert_non_null(debug_store_loss(store));
  debug_store_close(store);
  assert_int_equal(access(path_of(world, "debug.corrupt-0"), F_OK), 0);
  assert_int_equal(access(path_of(world, file_name), F_OK), -1);
}

/* As a collector starts and ends; nothing is lost. */
static void start_once(const struct world *world) {
  struct debug_store *store = open_debug(world);
  assert_null(debug_store_loss(store));
  debug_store_mark(store, world->dir);
  debug_store_close(store);
}

static void copy_file(const struct world *world, const char *from, const char *to) {
  char command[512];
  snprintf(command, sizeof command, "cp '%s/%s' '%s/%s'", world->dir, from, world->dir, to);
  assert_int_equal(system(command), 0);
}

static void files_that_an_older_catalogue_does_not_know_are_kept(void **state) {
  const struct world *world = *state;
  static const char second[] =
      "debug/a3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  sqlite3 *landing = NULL;
  assert_int_equal(sqlite3_open(path_of(world, "landing.db"), &landing), SQLITE_OK);
  assert_int_equal(sqlite3_exec(landing, MARKS_SCHEMA, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(marks_write(landing, MARKS_STORE, 77), 0);
  sqlite3_close(landing);
  start_once(world);
  copy_file(world, "debug.db", "older.db");
  start_once(world);
  overwrite(path_of(world, file_name), 0, 8);
  overwrite(path_of(world, second), 0, 8);
  start_once(world); /* files newer than a backup, or whose rows a power cut lost */
  assert_int_equal(access(path_of(world, file_name), F_OK), -1);
  overwrite(path_of(world, file_name), 0, 8);
  overwrite(path_of(world, second), 0, 8);
  copy_file(world, "older.db", "debug.db");
  struct debug_store *store = open_debug(world);
  assert_non_null(debug_store_loss(store));
  debug_store_mark(store, world->dir);
  debug_store_close(store);
  start_once(world);
  assert_int_equal(access(path_of(world, second), F_OK), -1);
  char kept[128];
  snprintf(kept, sizeof kept, "debug.corrupt-0/%s", strchr(second, '/') + 1);
  assert_int_equal(access(path_of(world, kept), F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_damaged_catalogue_is_set_aside_with_its_files),
      TEST(a_newer_catalogue_is_refused_untouched),
      TEST(a_catalogue_that_is_gone_takes_no_file_along),
      TEST(files_that_an_older_catalogue_does_not_know_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
