/* SPDX-License-Identifier: Apache-2.0 */
/* Stores of earlier versions (tests/golden/stores) open, are complete, can be written, and then
   have the present version. A later version's store is rejected and unchanged. */
#include "day_fixture.h"

#include "store/day_file.h"
#include "store/file_version.h"
#include "store/landing.h"
#include "store/tier_file.h"

#include <errno.h>

enum { BATCHES = 6, RUN = 7, HALF_DAY_MS = 12 * 3600 * 1000 };

static const char *const kept[] = {"v1", "v2", "v3"};
static const char with_sums[] = "v3"; /* of windows; others before it have none */

/* Unpacks the store of version NAME in place of WORLD's folder. */
static void unpack(struct world *world, const char *name) {
  char command[512];
  store_close(world->store);
  world->store = NULL;
  remove_dir(world->dir);
  assert_int_equal(mkdir(world->dir, 0700), 0);
  snprintf(command, sizeof command, "tar -xzf %s/golden/stores/%s.tar.gz -C %s", TEST_DATA, name,
           world->dir);
  assert_int_equal(system(command), 0);
}

static uint64_t weight_of_batches(uint64_t count) {
  struct made_batch made;
  uint64_t weight = 0;
  for (uint64_t seq = 1; seq <= count; seq++) {
    make_batch(&made, RUN, seq);
    weight += made.weight;
  }
  return weight;
}

static uint32_t version_of(const struct world *world, enum day_kind kind, uint64_t ms) {
  char path[DAY_PATH_BYTES];
  assert_int_equal(day_folder_path(world->dir, kind, day_of(ms), path), 0);
  return file_version_peek(path);
}

static uint32_t version_of_day(const struct world *world, uint64_t ms) {
  return version_of(world, DAY_WINDOWS, ms);
}

static void no_trouble(void *context, const char *what, const char *why) {
  (void)context;
  fail_msg("%s %s", what, why);
}

static void what_each_kept_version_left_is_complete(void **state) {
  struct world *world = *state;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    unpack(world, kept[i]);
    assert_int_equal(version_of_day(world, NOON_MS + DAY_MS), i + 1);
    open_store(world);
    store_troubles(world->store, no_trouble, NULL); /* without marks, it is accepted as it is */
    assert_int_equal(scan_all(world->store).weight, weight_of_batches(BATCHES));
    assert_int_equal(board_of(world->store, "b1").stored, scan_all(world->store).count);
    assert_books_close(world->store, "b1");
    for (uint64_t seq = 1; seq <= BATCHES; seq++) /* the ledger is included */
      assert_int_equal(append_new(world->store, "b1", RUN, seq, NOON_MS), STORE_DUPLICATE);
  }
}

static void what_each_kept_version_left_is_written_on(void **state) {
  struct world *world = *state;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    unpack(world, kept[i]);
    open_store(world);
    for (uint64_t seq = 1; seq <= BATCHES; seq++)
      assert_int_equal(
          append_new(world->store, "b1", RUN, BATCHES + seq, NOON_MS + seq * HALF_DAY_MS + 60000),
          STORE_STORED);
    reopen_store(world);
    assert_int_equal(scan_all(world->store).weight, weight_of_batches(2 * BATCHES));
    store_close(world->store);
    for (uint64_t ms = NOON_MS + DAY_MS; ms < NOON_MS + 4 * DAY_MS; ms += DAY_MS)
      assert_int_equal(version_of_day(world, ms), DAY_VERSION);
    open_store(world);
  }
}

static void sums_that_a_kept_version_left_are_read_and_added_to(void **state) {
  struct world *world = *state;
  const struct store_keep keep = {.windows_ms = UINT64_MAX / 2, .minutes_ms = UINT64_MAX / 2};
  unpack(world, with_sums);
  for (enum day_kind kind = DAY_MINUTES; kind < DAY_KINDS; kind++)
    assert_int_equal(version_of(world, kind, NOON_MS + DAY_MS), 1);
  open_store(world);
  for (unsigned round = 1; round <= 2; round++) {
    assert_int_equal(store_retain(world->store, &keep), 0); /* leaves them alone, then with more */
    assert_int_equal(day_folder_bytes(world->dir, DAY_WINDOWS, day_of(NOON_MS + DAY_MS)), 0);
    assert_int_equal(scan_all(world->store).weight, weight_of_batches(round * BATCHES));
    for (uint64_t seq = 1; seq <= BATCHES; seq++)
      append_new(world->store, "b1", RUN, round * BATCHES + seq,
                 NOON_MS + seq * HALF_DAY_MS + 60000);
    assert_int_equal(scan_all(world->store).weight, weight_of_batches((round + 1) * BATCHES));
    assert_int_equal(store_roll(world->store), 0);
    assert_int_equal(version_of(world, DAY_HOURS, NOON_MS + DAY_MS), TIER_FILE_VERSION);
  }
}

static void set_version(const char *path, unsigned version) {
  char sql[64];
  snprintf(sql, sizeof sql, "PRAGMA user_version=%u", version);
  change_file(path, sql);
}

static void refuse(const struct world *world, const char *path, unsigned known) {
  struct store *store = NULL;
  char error[512] = "", words[64];
  struct stat before, after;
  set_version(path, known + 1);
  assert_int_equal(stat(path, &before), 0);
  assert_int_equal(file_version_look(world->dir, error, sizeof error), -EPROTO);
  assert_int_equal(store_open(world->dir, &store, error, sizeof error), -EPROTO);
  snprintf(words, sizeof words, "written by a newer fleetprof: format %u, this one knows %u",
           known + 1, known);
  assert_non_null(strstr(error, words));
  assert_non_null(strstr(error, path));
  assert_int_equal(stat(path, &after), 0);
  assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
  set_version(path, known);
}

static void what_a_later_version_wrote_is_refused_untouched(void **state) {
  struct world *world = *state;
  char path[DAY_PATH_BYTES], error[512] = "";
  append_new(world->store, "b1", RUN, 1, NOON_MS);
  scan_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  store_close(world->store);
  snprintf(path, sizeof path, "%s/landing.db", world->dir);
  refuse(world, path, LANDING_VERSION);
  assert_int_equal(day_folder_path(world->dir, DAY_WINDOWS, day_of(NOON_MS), path), 0);
  refuse(world, path, DAY_VERSION);
  assert_int_equal(day_folder_path(world->dir, DAY_HOURS, day_of(NOON_MS), path), 0);
  refuse(world, path, TIER_FILE_VERSION);
  assert_int_equal(file_version_look(world->dir, error, sizeof error), 0);
  open_store(world);
}

static void a_day_that_was_cut_is_found_at_the_start(void **state) {
  struct world *world = *state;
  char path[DAY_PATH_BYTES], aside[DAY_PATH_BYTES + 16];
  struct buf metrics = {0};
  struct stat status;
  append_new(world->store, "b1", RUN, 1, NOON_MS);
  append_new(world->store, "b1", RUN, 2, NOON_MS + DAY_MS);
  uint64_t second = scan_range(world->store, NOON_MS + DAY_MS / 2, UINT64_MAX).weight;
  store_close(world->store);
  assert_int_equal(day_folder_path(world->dir, DAY_WINDOWS, day_of(NOON_MS), path), 0);
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(truncate(path, status.st_size - 4096), 0);
  open_store(world);
  snprintf(aside, sizeof aside, "%s.corrupt", path);
  assert_int_equal(access(aside, F_OK), 0); /* before any query */
  store_metrics(world->store, &metrics);
  assert_non_null(strstr(buf_text(&metrics), "fleetprof_store_set_aside_total 1\n"));
  buf_fini(&metrics);
  assert_int_equal(scan_all(world->store).weight, second);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_each_kept_version_left_is_complete),
      TEST(what_each_kept_version_left_is_written_on),
      TEST(sums_that_a_kept_version_left_are_read_and_added_to),
      TEST(what_a_later_version_wrote_is_refused_untouched),
      TEST(a_day_that_was_cut_is_found_at_the_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
