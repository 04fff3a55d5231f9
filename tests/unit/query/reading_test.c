/* SPDX-License-Identifier: Apache-2.0 */
/* An answer from windows equals the answer from their rollups. */
#include "world.h"

#include "common/table.h"
#include "query/load.h"
#include "query/series.h"

#include <math.h>

static const uint64_t hot[][2] = {{0, 0x10}};
static const uint64_t library[][2] = {{0, 0x10}, {2, 0x30}};

/* Ten seconds of BOARD that are more of the library the later they are. */
static void append(struct world *world, const char *board, uint64_t start_ms) {
  static uint64_t run = 1;
  struct window window;
  window_init(&window, "shop", run++);
  uint64_t hash = table_hash(board, strlen(board), 7) % 5;
  window_add(&window, hot, 1, 30, 3000);
  window_add(&window, library, 2, 10 + hash + start_ms / 600000 % 7,
             (10 + hash + start_ms / 600000 % 7) * 100);
  window_append(&window, world->store, board, 1, start_ms);
}

static void append_boards(struct world *world, unsigned boards, unsigned windows) {
  char name[32];
  for (unsigned i = 0; i < boards; i++) {
    snprintf(name, sizeof name, "board-%u", i);
    for (unsigned j = 0; j < windows; j++) append(world, name, NOON_MS + j * 1800000ULL);
  }
}

static struct query_load load_of(struct world *world, const char *match, const char *by) {
  const struct query_source source = {.store = world->store};
  struct query_range range = {.from_ms = 0, .to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct selector *selector = NULL;
  struct query_load load;
  char why[256];
  assert_int_equal(selector_parse(match, &selector, why, sizeof why), 0);
  range.selector = selector;
  assert_int_equal(query_load(&source, &range, by, &world->arena, &load), 0);
  selector_free(selector);
  return load;
}

static void assert_alike(const struct query_load *a, const struct query_load *b, double tolerance) {
  assert_int_equal(a->count, b->count);
  assert_int_equal(a->whole.total_weight, b->whole.total_weight);
  assert_int_equal(a->whole.total_count, b->whole.total_count);
  for (uint32_t i = 0; i < a->count; i++) {
    assert_string_equal(a->rows[i].name, b->rows[i].name);
    assert_int_equal(a->rows[i].weight, b->rows[i].weight);
    assert_int_equal(a->rows[i].count, b->rows[i].count);
    assert_true(fabs(a->rows[i].share.low - b->rows[i].share.low) <= tolerance);
    assert_true(fabs(a->rows[i].share.high - b->rows[i].share.high) <= tolerance);
  }
}

/* Queries BOARDS boards of MATCH before and after the rollup, and once the windows are deleted. */
static struct query_load ask_thrice(struct world *world, const char *match, double tolerance) {
  const struct store_keep keep = {.windows_ms = UINT64_MAX / 2, .minutes_ms = UINT64_MAX / 2};
  struct query_load before = load_of(world, match, "function");
  assert_int_equal(store_roll(world->store), 0);
  struct query_load after = load_of(world, match, "function");
  assert_alike(&before, &after, tolerance);
  assert_int_equal(store_retain(world->store, &keep), 0);
  struct query_load kept = load_of(world, match, "function");
  assert_alike(&before, &kept, tolerance);
  assert_string_equal(before.basis.unit, kept.basis.unit);
  return kept;
}

static void one_boards_time_stays_in_stretches(void **state) {
  struct world *world = *state;
  append_boards(world, 1, 48);
  struct query_load load = ask_thrice(world, "", 0.02);
  assert_string_equal(load.basis.unit, "samples");
  const struct query_source source = {.store = world->store};
  const struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct view_tree tree;
  assert_int_equal(query_tree(&source, &range, &world->arena, &tree), 0);
  assert_int_equal(tree.groups.kind, GROUPS_TIMES); /* which differences go by */
  assert_in_range(tree.groups.count, 20, GROUPS_TIMES_MAX);
}

static unsigned stretches_of(struct world *world) {
  const struct query_source source = {.store = world->store};
  const struct query_range range = {.to_ms = UINT64_MAX, .types = SAMPLE_SET_CPU};
  struct view_tree tree;
  assert_int_equal(query_tree(&source, &range, &world->arena, &tree), 0);
  assert_int_equal(tree.groups.kind, GROUPS_TIMES);
  return tree.groups.count;
}

/* An hour of windows, and nothing for the other days of a week but a window at either end. */
static void an_hour_of_a_week_is_cut_as_an_hour_is(void **state) {
  struct world *world = *state;
  append(world, "board-0", NOON_MS - 7 * 86400000ULL);
  for (unsigned i = 0; i < 360; i++)
    append(world, "board-0", NOON_MS - 3 * 86400000ULL + i * 10000);
  append(world, "board-0", NOON_MS);
  unsigned before = stretches_of(world);
  assert_in_range(before, 30, GROUPS_TIMES_MAX);
  assert_int_equal(store_roll(world->store), 0);
  assert_in_range(stretches_of(world), 30, GROUPS_TIMES_MAX);
}

/* Ten minutes a day. */
static void a_part_of_each_day_is_cut_as_what_it_is(void **state) {
  struct world *world = *state;
  for (unsigned day = 0; day < 7; day++)
    for (unsigned i = 0; i < 60; i++)
      append(world, "board-0", NOON_MS - day * 86400000ULL + i * 10000);
  assert_int_equal(store_roll(world->store), 0);
  assert_in_range(stretches_of(world), 21, GROUPS_TIMES_MAX);
}

/* Another board exists, but has no samples of the queried service. */
static void the_one_board_that_has_a_service_does_too(void **state) {
  struct world *world = *state;
  struct window window;
  append_boards(world, 1, 48);
  window_init(&window, "till", 1);
  window_add(&window, hot, 1, 1, 1);
  window_append(&window, world->store, "other", 1, NOON_MS);
  struct query_load load = ask_thrice(world, "{service=\"shop\"}", 0.02);
  assert_string_equal(load.basis.unit, "samples");
}

static void a_few_boards_are_units_themselves(void **state) {
  struct world *world = *state;
  append_boards(world, 6, 6);
  struct query_load load = ask_thrice(world, "", 1e-12);
  assert_string_equal(load.basis.unit, "boards");
  assert_int_equal(load.basis.units, 6);
}

static void many_boards_are_64_groups_merged_or_not(void **state) {
  struct world *world = *state;
  append_boards(world, 90, 2);
  struct query_load load = ask_thrice(world, "", 1e-12);
  assert_string_equal(load.basis.unit, "board groups");
  struct query_load by_label = load_of(world, "{service=\"shop\"}", "function");
  assert_alike(&load, &by_label, 1e-12);
  struct query_load by_board = load_of(world, "{board=~\"board-.*\"}", "function");
  assert_alike(&load, &by_board, 1e-12);
  struct query_load some = load_of(world, "{board=~\"board-1.?\"}", "function");
  assert_string_equal(some.basis.unit, "boards");
  assert_int_equal(some.basis.units, 11); /* 1, 10 to 19 */
  struct query_load boards = load_of(world, "", "board");
  assert_int_equal(boards.count, 90);
  assert_int_equal(boards.whole.total_weight, load.whole.total_weight);
}

static struct query_series series_of(struct world *world, uint64_t step_s, uint64_t to_ms) {
  const struct query_source source = {.store = world->store};
  const struct query_range range = {.from_ms = NOON_MS, .to_ms = to_ms, .types = SAMPLE_SET_CPU};
  const struct series_wish wish = {"service", step_s, 10};
  struct query_series series;
  assert_int_equal(query_series(&source, &range, &wish, &world->arena, &series), 0);
  return series;
}

static void steps_are_the_same_where_blocks_make_them_up(void **state) {
  struct world *world = *state;
  static const uint64_t steps_s[] = {10, 300, 900, 3600, 7200, 86400};
  struct query_series before[6];
  append_boards(world, 2, 10);
  for (unsigned i = 0; i < 6; i++) before[i] = series_of(world, steps_s[i], NOON_MS + 6 * 3600000);
  assert_int_equal(store_roll(world->store), 0);
  for (unsigned i = 0; i < 6; i++) {
    struct query_series after = series_of(world, steps_s[i], NOON_MS + 6 * 3600000);
    assert_int_equal(after.rows[0].point_count, before[i].rows[0].point_count);
    for (uint32_t j = 0; j < after.rows[0].point_count; j++) {
      assert_int_equal(after.rows[0].points[j].time_s, before[i].rows[0].points[j].time_s);
      assert_int_equal(after.rows[0].points[j].weight, before[i].rows[0].points[j].weight);
    }
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(one_boards_time_stays_in_stretches),
      TEST(an_hour_of_a_week_is_cut_as_an_hour_is),
      TEST(a_part_of_each_day_is_cut_as_what_it_is),
      TEST(the_one_board_that_has_a_service_does_too),
      TEST(a_few_boards_are_units_themselves),
      TEST(many_boards_are_64_groups_merged_or_not),
      TEST(steps_are_the_same_where_blocks_make_them_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
