/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over boards: the same samples, in any grouping. */
#include "told_fixture.h"

static void many_boards_are_merged_into_groups_and_add_up(void **state) {
  struct world *world = *state;
  struct made_batch made;
  char board[32];
  enum { BOARDS = 80 };
  for (unsigned i = 0; i < BOARDS; i++) {
    make_batch(&made, 1, 1);
    seal_batch(&made);
    snprintf(board, sizeof board, "board-%u", i);
    struct store_append append = append_of(&made, board, NOON_MS + i * 30000);
    assert_int_equal(store_append(world->store, &append, 1), 0);
    free_batch(&made);
  }
  struct told *before = tell_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  struct told *apart = tell_all(world->store);
  struct told *merged =
      scan_as(world->store, (struct store_scan){.to_ms = UINT64_MAX, .merges_boards = true});
  assert_same(before, apart);
  assert_same(before, merged);
  assert_int_equal(apart->grouped_blocks, 0);
  assert_int_equal(merged->grouped_blocks, merged->blocks);
  assert_true(merged->blocks < apart->blocks * 3 / 4);
  assert_int_equal(merged->site_blocks, merged->blocks);     /* users' labels stay */
  append_new(world->store, "board-7", 1, 2, NOON_MS + 1000); /* late, and in its group */
  struct told *late = tell_all(world->store);
  assert_int_equal(store_roll(world->store), 0);
  struct told *with_late =
      scan_as(world->store, (struct store_scan){.to_ms = UINT64_MAX, .merges_boards = true});
  assert_same(late, with_late);
  assert_int_equal(with_late->grouped_blocks, with_late->blocks);
  free(before), free(apart), free(merged), free(late), free(with_late);
}

static void hours_are_merged_where_a_third_of_their_series_is_left(void **state) {
  struct world *world = *state;
  static const unsigned boards[] = {80, 320};
  for (unsigned round = 0; round < 2; round++) {
    char board[32];
    uint64_t day_ms = round * DAY_MS;
    for (unsigned i = 0; i < boards[round]; i++) {
      snprintf(board, sizeof board, "board-%u", i);
      append_new(world->store, board, 1 + round, 1, NOON_MS + day_ms + i);
    }
    free(tell_all(world->store)); /* all has settled */
    assert_int_equal(store_roll(world->store), 0);
  }
  struct store_scan hours = {.to_ms = UINT64_MAX, .grain_ms = TIER_HOUR_MS};
  struct told *apart = scan_as(world->store, hours);
  hours.merges_boards = true;
  struct told *merged = scan_as(world->store, hours);
  assert_same(apart, merged);
  assert_int_equal(apart->blocks, 3 * (80 + 320));
  assert_int_equal(merged->blocks - merged->grouped_blocks, 3 * 80);
  assert_in_range(merged->grouped_blocks, 3 * 30, 3 * STORE_GROUPS);
  free(apart), free(merged);
}

/* Every other series belongs to a group that no longer exists: 33 is 1 now. */
static void groups_of_earlier_files_are_two_to_one(void **state) {
  struct world *world = *state;
  char path[DAY_PATH_BYTES], board[32];
  for (unsigned i = 0; i < 80; i++) {
    snprintf(board, sizeof board, "board-%u", i);
    append_new(world->store, board, 1, 1, NOON_MS + i);
  }
  free(tell_all(world->store));
  assert_int_equal(store_roll(world->store), 0);
  const struct store_scan merging = {.to_ms = UINT64_MAX, .merges_boards = true};
  struct told *now = scan_as(world->store, merging);
  assert_int_equal(now->grouped_blocks, now->blocks);
  store_close(world->store);
  day_folder_path(world->dir, DAY_HOURS, day_of(NOON_MS), path);
  change_file(path, "UPDATE series SET grp=grp+32 WHERE grp>0 AND id%2=0");
  open_store(world);
  struct told *then = scan_as(world->store, merging); /* tell() assumes present groups */
  assert_same(now, then);
  assert_int_equal(then->grouped_blocks, now->grouped_blocks);
  free(now), free(then);
}

/* As for the graph of a week of a fleet: sums of groups, and late samples beside them. */
static void sums_over_boards_say_what_their_rows_weigh(void **state) {
  struct world *world = *state;
  char board[32];
  for (unsigned i = 0; i < 80; i++) {
    snprintf(board, sizeof board, "board-%u", i);
    append_new(world->store, board, 1, 1, NOON_MS + i);
  }
  free(tell_all(world->store));
  assert_int_equal(store_roll(world->store), 0);
  append_new(world->store, "board-7", 1, 2, NOON_MS + 1000);
  struct store_scan merging = {.to_ms = UINT64_MAX, .grain_ms = DAY_MS, .merges_boards = true};
  struct told *rows = scan_as(world->store, merging);
  merging.sums_will_do = true;
  struct told *sums = scan_as(world->store, merging);
  assert_true(rows->grouped_blocks > 0 && rows->grouped_blocks < rows->blocks);
  assert_int_equal(sums->count, rows->count);
  assert_int_equal(sums->weight, rows->weight);
  assert_int_equal(sums->blocks, rows->blocks);
  assert_int_equal(sums->grouped_blocks, rows->grouped_blocks);
  free(rows), free(sums);
}

static void few_boards_are_not_merged(void **state) {
  struct world *world = *state;
  append_hours(world, "b1", 1);
  append_hours(world, "b2", 1);
  assert_int_equal(store_roll(world->store), 0);
  struct told *told =
      scan_as(world->store, (struct store_scan){.to_ms = UINT64_MAX, .merges_boards = true});
  assert_int_equal(told->grouped_blocks, 0);
  free(told);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(many_boards_are_merged_into_groups_and_add_up),
      TEST(hours_are_merged_where_a_third_of_their_series_is_left),
      TEST(groups_of_earlier_files_are_two_to_one),
      TEST(sums_over_boards_say_what_their_rows_weigh),
      TEST(few_boards_are_not_merged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
