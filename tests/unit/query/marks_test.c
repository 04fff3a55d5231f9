/* SPDX-License-Identifier: Apache-2.0 */
/* Marks from a batch's target through the store into an answer. */
#include "world.h"

#include "view/marks.h"

#include <sqlite3.h>

static void append(struct world *world, const char *service, uint64_t seq, uint32_t marks) {
  static const uint64_t stack[][2] = {{0, 0x100}, {0, 0x200}};
  struct window window;
  window_init(&window, service, 1);
  window.target.marks = marks;
  window_add(&window, stack, 2, 3, 30);
  window_append(&window, world->store, "b1", seq, NOON_MS + seq * 10000);
}

static struct view_tree tree_in(struct world *world, uint64_t from_ms, uint64_t to_ms) {
  const struct query_source source = {.store = world->store};
  const struct query_range range = {.from_ms = from_ms, .to_ms = to_ms, .types = SAMPLE_SET_CPU};
  struct view_tree tree;
  assert_int_equal(query_tree(&source, &range, &world->arena, &tree), 0);
  return tree;
}

static void an_answer_without_marked_windows_has_no_marks(void **state) {
  append(*state, "calm", 1, 0);
  assert_int_equal(tree_in(*state, 0, UINT64_MAX).mark_count, 0);
}

static void a_service_is_marked_once_and_at_its_surest(void **state) {
  append(*state, "calm", 1, 0);
  append(*state, "stepper", 2, MARK_LOCK_STEP_POSSIBLE);
  append(*state, "stepper", 3, MARK_LOCK_STEP_LIKELY);
  append(*state, "burster", 4, MARK_LOCK_STEP_POSSIBLE);
  struct view_tree tree = tree_in(*state, 0, UINT64_MAX);
  assert_int_equal(tree.mark_count, 2);
  for (uint32_t i = 0; i < 2; i++) {
    bool is_stepper = strcmp(tree.marks[i].service, "stepper") == 0;
    struct mark_text text = marks_text(tree.marks[i].marks);
    if (!is_stepper) assert_string_equal(tree.marks[i].service, "burster");
    assert_string_equal(text.mark, "lock_step");
    assert_string_equal(text.certainty, is_stepper ? "likely" : "possible");
    assert_non_null(strstr(text.meaning, "the total is right"));
  }
}

static void each_kind_of_mark_has_a_row_of_its_own(void **state) {
  append(*state, "stepper", 1, MARK_LOCK_STEP_LIKELY | MARK_STACKS_CUT);
  append(*state, "stepper", 2, MARK_WENT_ON | MARK_STALE_RATE | MARK_COARSE_BINS);
  append(*state, "stepper", 3, MARK_FULL_COUNTERS | MARK_PAUSED | MARK_LAST_MOMENTS);
  append(*state, "stepper", 4, MARK_NO_ROOM | MARK_UNREACHED | MARK_SHORT_LIVES);
  struct view_tree tree = tree_in(*state, 0, UINT64_MAX);
  static const char *const names[] = {"lock_step",   "stacks_cut",    "went_on",    "stale_rate",
                                      "coarse_bins", "full_counters", "paused",     "last_moments",
                                      "no_room",     "unreached",     "short_lives"};
  assert_int_equal(tree.mark_count, 11);
  for (uint32_t i = 0; i < 11; i++) {
    assert_string_equal(tree.marks[i].service, "stepper");
    assert_string_equal(marks_text(tree.marks[i].marks).mark, names[i]);
  }
}

static void marks_of_windows_outside_of_the_range_do_not_count(void **state) {
  append(*state, "stepper", 1, MARK_LOCK_STEP_LIKELY);
  append(*state, "stepper", 50, 0);
  assert_int_equal(tree_in(*state, NOON_MS + 400000, UINT64_MAX).mark_count, 0);
  assert_int_equal(tree_in(*state, 0, NOON_MS + 400000).mark_count, 1);
}

static void more_services_than_fit_are_left_out(void **state) {
  struct marks marks = {0};
  const struct view_mark *rows;
  uint32_t count;
  char name[16];
  for (unsigned i = 0; i < MARKS_SERVICES_MAX; i++) { /* no doubt takes no room */
    snprintf(name, sizeof name, "t%u", i);
    assert_int_equal(marks_add(&marks, name, MARK_ENDS_TOLD), 0);
  }
  for (unsigned i = 0; i < MARKS_SERVICES_MAX + 10; i++) {
    snprintf(name, sizeof name, "s%u", i);
    assert_int_equal(marks_add(&marks, name, MARK_LOCK_STEP_POSSIBLE), 0);
  }
  assert_int_equal(marks_add(&marks, NULL, MARK_LOCK_STEP_POSSIBLE), 0);
  assert_int_equal(marks_copy(&marks, &((struct world *)*state)->arena, &rows, &count), 0);
  assert_int_equal(count, MARKS_SERVICES_MAX);
  marks_fini(&marks);
}

/* The day file as the first format had it. */
static void make_old(const struct world *world) {
  char path[128];
  sqlite3 *db;
  snprintf(path, sizeof path, "%s/day-2026-01-01.db", world->dir);
  assert_int_equal(access(path, F_OK), 0);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(
      sqlite3_exec(db,
                   "ALTER TABLE block DROP COLUMN marks; DROP TABLE newest; DROP TABLE self;"
                   "DROP TABLE pruned; PRAGMA user_version=1",
                   0, 0, 0),
      SQLITE_OK);
  sqlite3_close(db);
}

static void a_day_of_the_first_format_is_read_and_takes_marks_when_written(void **state) {
  struct world *world = *state;
  append(world, "stepper", 1, MARK_LOCK_STEP_LIKELY);
  assert_int_equal(tree_in(world, 0, UINT64_MAX).mark_count, 1);
  store_close(world->store);
  make_old(world);
  world_open_store(world);
  struct view_tree tree = tree_in(world, 0, UINT64_MAX);
  assert_int_equal(tree.mark_count, 0);
  assert_int_equal(tree.total_weight, 30);
  append(world, "stepper", 2, MARK_LOCK_STEP_POSSIBLE);
  tree = tree_in(world, 0, UINT64_MAX);
  assert_int_equal(tree.total_weight, 60);
  assert_int_equal(tree.mark_count, 1);
  assert_int_equal(tree.marks[0].marks, MARK_LOCK_STEP_POSSIBLE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(an_answer_without_marked_windows_has_no_marks),
      TEST(a_service_is_marked_once_and_at_its_surest),
      TEST(each_kind_of_mark_has_a_row_of_its_own),
      TEST(marks_of_windows_outside_of_the_range_do_not_count),
      TEST(more_services_than_fit_are_left_out),
      TEST(a_day_of_the_first_format_is_read_and_takes_marks_when_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
