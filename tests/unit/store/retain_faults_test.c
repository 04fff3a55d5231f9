/* SPDX-License-Identifier: Apache-2.0 */
/* Old data is deleted even if the disk is full. Windows are deleted only if nothing can restore
   them beside their sums. */
#include "day_fixture.h"
#include "disk_model_fixture.h"

#include <errno.h>
#include <sqlite3.h>

enum { BOARDS = 12, HOURS = 10, WRITES_MAX = 2000 };

/* Everything of two days, summed up. */
static void live_for_two_days(struct world *world) {
  for (unsigned day = 0; day < 2; day++)
    assert_int_equal(append_new(world->store, "b1", 1, day + 1, NOON_MS + day * DAY_MS),
                     STORE_STORED);
  scan_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
}

static bool has_day(const struct world *world, enum day_kind kind, unsigned day) {
  return day_folder_bytes(world->dir, kind, day_of(NOON_MS) + day) > 0;
}

static unsigned count_files(const struct world *world) {
  unsigned count = 0;
  for (unsigned i = 0; i < 2 * DAY_KINDS; i++)
    count += has_day(world, (enum day_kind)(i % DAY_KINDS), i / DAY_KINDS);
  return count;
}

/* A power cut would restore them: the deletion of their rows is not on the disk. */
static void windows_wait_until_the_landing_file_can_be_written(void **state) {
  struct world *world = *state;
  const struct store_keep keep = {.windows_ms = NOON_MS + 2 * DAY_MS};
  live_for_two_days(world);
  uint64_t weight = scan_all(world->store).weight;
  disk_fail_in("landing", SQLITE_FULL);
  assert_int_equal(store_retain(world->store, &keep), -ENOSPC);
  assert_true(has_day(world, DAY_WINDOWS, 0));
  disk_fail_in(NULL, 0);
  assert_int_equal(store_retain(world->store, &keep), 0);
  assert_false(has_day(world, DAY_WINDOWS, 0));
  assert_int_equal(scan_all(world->store).weight, weight);
}

static void one_day_that_cannot_be_changed_keeps_no_other(void **state) {
  struct world *world = *state;
  const struct store_keep keep = {.max_bytes = 1};
  live_for_two_days(world);
  assert_int_equal(count_files(world), 2 * DAY_KINDS);
  disk_fail_in("hours-2026-01-01", SQLITE_FULL);
  assert_int_equal(store_retain(world->store, &keep), -ENOSPC);
  disk_fail_in(NULL, 0);
  assert_int_equal(count_files(world), 0);
}

static void a_disk_on_which_nothing_can_be_written_is_emptied_all_the_same(void **state) {
  struct world *world = *state;
  const struct store_keep keep = {.max_bytes = 1};
  live_for_two_days(world);
  disk_fail(1, UINT32_MAX, SQLITE_FULL);
  assert_int_equal(store_retain(world->store, &keep), -ENOSPC);
  disk_fail(0, 0, 0);
  assert_int_equal(count_files(world), 0);
}

/* A temporary error is waited out: only a full disk has days deleted. */
static void an_error_that_passes_takes_nothing_coarser_with_it(void **state) {
  static const int codes[] = {SQLITE_IOERR_WRITE, SQLITE_IOERR_NOMEM, SQLITE_BUSY};
  struct world *world = *state;
  live_for_two_days(world);
  const struct store_keep keep = {.max_bytes = 1};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    disk_fail_in("landing", codes[i]);
    int error = store_retain(world->store, &keep);
    disk_fail_in(NULL, 0);
    assert_true(error != 0 && error != -ENOSPC);
    assert_int_equal(count_files(world), 2 * DAY_KINDS);
  }
  disk_fail_in("hours-2026-01-01", SQLITE_IOERR_WRITE);
  assert_int_equal(store_retain(world->store, &keep), -EIO);
  disk_fail_in(NULL, 0);
  assert_int_equal(count_files(world), 2); /* the finer ones are deleted */
  assert_int_equal(store_retain(world->store, &keep), 0);
  assert_int_equal(count_files(world), 0);
}

static void a_landing_file_that_somebody_locks_costs_no_day(void **state) {
  struct world *world = *state;
  char path[sizeof world->dir + sizeof "/landing.db"];
  sqlite3 *db = NULL;
  live_for_two_days(world);
  const struct store_keep keep = {.max_bytes = 1};
  snprintf(path, sizeof path, "%s/landing.db", world->dir);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(store_retain(world->store, &keep), -EBUSY);
  assert_int_equal(count_files(world), 2 * DAY_KINDS);
  sqlite3_close(db);
}

/* SQLite's code for a full disk differs from that of a used-up quota. */
static void a_quota_that_is_used_up_is_a_full_disk(void **state) {
  struct world *world = *state;
  live_for_two_days(world);
  const struct store_keep keep = {.max_bytes = 1};
  disk_fail(1, UINT32_MAX, SQLITE_IOERR_WRITE);
  disk_fail_by(EDQUOT);
  int error = store_retain(world->store, &keep);
  disk_fail_by(0);
  disk_fail(0, 0, 0);
  assert_int_equal(error, -EDQUOT);
  assert_int_equal(count_files(world), 0);
}

/* The disk is full from each write on in turn: the first, those that delete the hours, those behind
   that, which give their room back. */
static void the_room_of_hours_is_given_back_however_often_that_fails(void **state) {
  struct world *world = *state;
  const struct store_keep keep = {.hours_ms = NOON_MS + DAY_MS};
  char board[32];
  for (unsigned i = 0; i < BOARDS * HOURS; i++) {
    snprintf(board, sizeof board, "b%u", i % BOARDS);
    append_new(world->store, board, 1, i / BOARDS + 1, NOON_MS + i / BOARDS * TIER_HOUR_MS);
  }
  uint64_t weight = scan_all(world->store).weight;
  assert_int_equal(store_roll(world->store), 0);
  uint64_t pages = ask_day(world, DAY_HOURS, "PRAGMA page_count");
  unsigned n = 1, failed_behind = 0;
  for (int error = -ENOSPC; error != 0; n++) {
    assert_true(n < WRITES_MAX);
    disk_fail(n, UINT32_MAX, SQLITE_FULL);
    error = store_retain(world->store, &keep);
    disk_fail(0, 0, 0);
    assert_true(error == 0 || error == -ENOSPC);
    failed_behind += error != 0 && ask_day(world, DAY_HOURS, "SELECT count(*) FROM dropped") > 0;
  }
  uint64_t left = ask_day(world, DAY_HOURS, "PRAGMA page_count");
  print_message("of %llu pages %llu are left; %u tries failed, %u of them when hours were gone\n",
                (unsigned long long)pages, (unsigned long long)left, n - 2, failed_behind);
  assert_true(failed_behind > 0);
  assert_int_equal(ask_day(world, DAY_HOURS, "PRAGMA freelist_count"), 0);
  assert_true(left < pages * 2 / 3);
  assert_int_equal(scan_all(world->store).weight, weight);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(windows_wait_until_the_landing_file_can_be_written),
      TEST(one_day_that_cannot_be_changed_keeps_no_other),
      TEST(a_disk_on_which_nothing_can_be_written_is_emptied_all_the_same),
      TEST(an_error_that_passes_takes_nothing_coarser_with_it),
      TEST(a_landing_file_that_somebody_locks_costs_no_day),
      TEST(a_quota_that_is_used_up_is_a_full_disk),
      TEST(the_room_of_hours_is_given_back_however_often_that_fails),
  };
  disk_install();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
