/* SPDX-License-Identifier: Apache-2.0 */
/* Load over time: the points add up to the total, for any step. */
#include "world.h"

#include "query/series.h"

#include <errno.h>

static const uint64_t hot[][2] = {{0, 0x10}};
static const uint64_t kernel[][2] = {{0, 0x10}, {1, 0}};
static uint64_t run = 1;

/* A window of ten seconds from START_MS. */
static void append(struct world *world, const char *thread, uint64_t start_ms, uint64_t weight) {
  struct window window;
  window_init(&window, "shop", run++);
  window.thread.name = thread;
  window_add(&window, hot, 1, 1, weight);
  window_add(&window, kernel, 2, 1, 1);
  window_append(&window, world->store, "b1", 1, start_ms);
}

struct ask {
  const char *by;
  uint64_t step_s, from_ms, to_ms;
  uint32_t limit;
};

static struct query_series series_of(struct world *world, const struct ask *ask) {
  const struct query_source source = {.store = world->store};
  const struct query_range range = {
      .from_ms = ask->from_ms, .to_ms = ask->to_ms, .types = SAMPLE_SET_CPU};
  const struct series_wish wish = {ask->by, ask->step_s, ask->limit};
  struct query_series series;
  assert_int_equal(query_series(&source, &range, &wish, &world->arena, &series), 0);
  return series;
}

static uint64_t sum_points(const struct query_series_row *row, uint64_t step_s) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < row->point_count; i++) {
    assert_true(row->points[i].weight > 0);
    assert_int_equal(row->points[i].time_s % step_s, 0);
    assert_true(i == 0 || row->points[i - 1].time_s < row->points[i].time_s);
    sum += wide_sum_cut(row->points[i].weight);
  }
  assert_int_equal(sum, row->weight);
  return sum;
}

static uint64_t sum_all(const struct query_series *series, uint64_t step_s) {
  uint64_t sum = sum_points(&series->rest, step_s);
  for (uint32_t i = 0; i < series->count; i++) sum += sum_points(&series->rows[i], step_s);
  return sum;
}

static void a_window_is_spread_over_the_steps_that_it_covers(void **state) {
  struct world *world = *state;
  append(world, "main", NOON_MS - 4000, 1000);
  const struct ask ask = {NULL, 60, NOON_MS - 600000, NOON_MS + 600000, 10};
  struct query_series series = series_of(world, &ask);
  assert_int_equal(series.count, 1);
  assert_int_equal(series.rows[0].point_count, 2);
  assert_int_equal(series.rows[0].points[0].time_s, NOON_MS / 1000 - 60);
  assert_int_equal(series.rows[0].points[0].weight, 400);
  assert_int_equal(series.rows[0].points[1].weight, 601);
}

static void points_add_up_whatever_the_step_and_the_range(void **state) {
  struct world *world = *state;
  static const uint64_t steps[] = {1, 3, 7, 10, 60, 3600};
  static const char *const ways[] = {NULL, "thread", "module", "function", "board", "none"};
  for (uint64_t i = 0; i < 20; i++)
    append(world, i % 3 == 0 ? "main" : "worker", NOON_MS + i * 7777, 997 + i * i);
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    for (size_t j = 0; j < sizeof ways / sizeof *ways; j++)
      for (uint64_t cut = 0; cut < 3; cut++) {
        const struct ask ask = {ways[j], steps[i], NOON_MS + cut * 20011,
                                NOON_MS + 300000 - cut * 60013, 1};
        struct query_series series = series_of(world, &ask);
        assert_int_equal(sum_all(&series, steps[i]), series.whole.total_weight);
        assert_true(series.whole.total_weight > 0);
        assert_true(series.count <= 1);
      }
}

/* The first window begins before the range, the last ends after it; both belong to it. */
static void what_reaches_out_of_the_range_counts_at_its_ends(void **state) {
  struct world *world = *state;
  append(world, "main", NOON_MS - 4000, 999);
  append(world, "main", NOON_MS + 56000, 999);
  const struct ask ask = {NULL, 10, NOON_MS, NOON_MS + 62000, 10};
  struct query_series series = series_of(world, &ask);
  assert_int_equal(series.rows[0].points[0].time_s, NOON_MS / 1000);
  assert_int_equal(series.rows[0].points[0].weight, 1000);
  assert_int_equal(sum_all(&series, 10), 2000);
  const struct ask fine = {NULL, 1, NOON_MS, NOON_MS + 62000, 10};
  series = series_of(world, &fine);
  assert_int_equal(sum_all(&series, 1), 2000);
  uint64_t last_s = series.rows[0].points[series.rows[0].point_count - 1].time_s;
  assert_int_equal(last_s, NOON_MS / 1000 + 61);
}

static void a_limit_keeps_the_heaviest_and_sums_up_the_rest(void **state) {
  struct world *world = *state;
  append(world, "light", NOON_MS, 10);
  append(world, "heavy", NOON_MS, 1000);
  append(world, "middle", NOON_MS, 100);
  const struct ask ask = {"thread", 60, NOON_MS - 60000, NOON_MS + 60000, 1};
  struct query_series series = series_of(world, &ask);
  assert_int_equal(series.count, 1);
  assert_string_equal(series.rows[0].name, "heavy");
  assert_int_equal(series.rest_count, 2);
  assert_int_equal(series.rest.weight, 112);
  assert_int_equal(series.rest.point_count, 1);
}

static void steps_are_counted_as_they_are_cut(void **state) {
  (void)state;
  assert_int_equal(series_step_count(0, 60000, 60), 1);
  assert_int_equal(series_step_count(59999, 60001, 60), 2);
  assert_int_equal(series_step_count(5, 5, 60), 0);
  assert_int_equal(series_step_count(0, 60001, 60), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_window_is_spread_over_the_steps_that_it_covers),
      TEST(points_add_up_whatever_the_step_and_the_range),
      TEST(what_reaches_out_of_the_range_counts_at_its_ends),
      TEST(a_limit_keeps_the_heaviest_and_sums_up_the_rest),
      TEST(steps_are_counted_as_they_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
