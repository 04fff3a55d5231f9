/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of many files are of one moment, while retention runs. */
#include "store_fixture.h"

#include "backup/moment.h"
#include "store/db_snapshot.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

/* Sorts after the sums and before the day of NOON_MS. */
static const char damaged_name[] = "day-2000-01-01.db";

static void write_damaged(const struct world *world) {
  static const char text[] = "SQLite format 3 is what this is not, for all that it says.";
  char path[128];
  snprintf(path, sizeof path, "%s/%s", world->dir, damaged_name);
  int fd = open(path, O_WRONLY | O_CREAT, 0600);
  assert_true(fd >= 0);
  for (unsigned i = 0; i < 200; i++)
    assert_int_equal(write(fd, text, sizeof text), (ssize_t)sizeof text);
  close(fd);
}

static int go_on(void *context) {
  (void)context;
  return 0;
}

/* Windows get into sums, and go. */
static void sum_up_and_delete(void *context, const char *name) {
  struct world *world = context;
  const struct store_keep keep = {.windows_ms = NOON_MS + 3600000};
  assert_string_equal(name, damaged_name);
  (void)store_roll(world->store); /* sets the damaged one aside */
  assert_int_equal(store_roll(world->store), 0);
  assert_int_equal(store_retain(world->store, &keep), 0);
}

/* Opens the copied files of MOMENT in place of WORLD's folder. */
static void open_copy(struct world *world, struct moment *moment) {
  char error[256], copy[80], path[PATH_MAX];
  snprintf(copy, sizeof copy, "%s.copy", world->dir);
  assert_int_equal(mkdir(copy, 0700), 0);
  for (size_t i = 0; i < moment->count; i++) {
    snprintf(path, sizeof path, "%s/%s", copy, moment->rows[i].name);
    assert_int_equal(db_snapshot_copy(moment->rows[i].snapshot, path, go_on, NULL), 0);
  }
  moment_fini(moment);
  store_close(world->store);
  remove_dir(world->dir);
  assert_int_equal(rename(copy, world->dir), 0);
  assert_int_equal(store_open(world->dir, &world->store, error, sizeof error), 0);
}

static void windows_that_go_while_files_are_opened_are_in_one_of_them(void **state) {
  struct world *world = *state;
  struct moment moment;
  char error[256] = "";
  for (unsigned i = 0; i < 3; i++) append_new(world->store, "b1", 1, 1 + i, NOON_MS + i * 600000);
  scan_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  for (unsigned i = 3; i < 6; i++) append_new(world->store, "b1", 1, 1 + i, NOON_MS + i * 600000);
  uint64_t weight = scan_all(world->store).weight;
  write_damaged(world);
  assert_int_equal(moment_take(world->dir, &moment, sum_up_and_delete, world, error, sizeof error),
                   0);
  assert_int_equal(scan_all(world->store).weight, weight);
  open_copy(world, &moment);
  assert_int_equal(scan_all(world->store).weight, weight);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(windows_that_go_while_files_are_opened_are_in_one_of_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
