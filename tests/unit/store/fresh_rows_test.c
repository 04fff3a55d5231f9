/* SPDX-License-Identifier: Apache-2.0 */
/* Newly staged rows stay in memory: only once durable, in order, and within the limit. */
#include "store/fresh_rows.h"

#include "common/clock.h"
#include "proto/opened_batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct fresh_rows rows;

static int set_up(void **state) {
  (void)state;
  fresh_rows_init(&rows);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  fresh_rows_fini(&rows);
  return 0;
}

static struct opened_batch *open_batch(uint64_t id, size_t bytes) {
  struct opened_batch *opened = calloc(1, sizeof *opened);
  arena_init(&opened->arena, 2 * bytes + 65536);
  arena_alloc(&opened->arena, bytes);
  opened->batch.node_count = (uint32_t)id;
  return opened;
}

/* Returns whether the row took its batch over. */
static bool stage(uint64_t id, size_t bytes) {
  char board[] = "edge-1", loss[] = {1, 2, 3};
  const struct landing_row row = {.id = id,
                                  .run = 7,
                                  .seq = 2 * id,
                                  .raw_len = 99,
                                  .loss = span_of(loss, sizeof loss),
                                  .board = board,
                                  .arch = "x",
                                  .kernel = "",
                                  .labels = "a=b\n"};
  struct opened_batch *opened = open_batch(id, bytes);
  fresh_rows_stage(&rows, &row, &opened);
  board[0] = loss[0] = 0; /* copied */
  bool is_taken = opened == NULL;
  opened_batch_free(opened);
  return is_taken;
}

static void a_row_is_found_once_it_is_durable_and_until_it_is_removed(void **state) {
  (void)state;
  assert_true(stage(5, 100));
  assert_true(stage(6, 100));
  assert_null(fresh_rows_find(&rows, 5));
  fresh_rows_publish(&rows);
  for (int round = 0; round < 2; round++) { /* again, after a round that failed */
    const struct landing_row *row = fresh_rows_find(&rows, 5);
    assert_non_null(row);
    assert_int_equal(row->seq, 10);
    assert_int_equal(row->raw_len, 99);
    assert_int_equal(row->batch->node_count, 5);
    assert_string_equal(row->board, "edge-1");
    assert_string_equal(row->labels, "a=b\n");
    assert_true(span_is_equal(row->loss, span_of("\1\2\3", 3)));
    assert_int_equal(fresh_rows_find(&rows, 6)->batch->node_count, 6);
    assert_null(fresh_rows_find(&rows, 7));
    assert_null(fresh_rows_find(&rows, 4));
  }
  fresh_rows_remove(&rows, 5);
  assert_null(fresh_rows_find(&rows, 5));
  assert_non_null(fresh_rows_find(&rows, 6));
  fresh_rows_remove(&rows, 5); /* nothing to remove */
  assert_non_null(fresh_rows_find(&rows, 6));
  fresh_rows_remove(&rows, 100);
  assert_int_equal(rows.bytes, 0);
}

static void what_was_rolled_back_is_forgotten(void **state) {
  (void)state;
  stage(1, 100);
  fresh_rows_publish(&rows);
  stage(2, 100);
  stage(3, 100);
  fresh_rows_drop_staged(&rows);
  fresh_rows_publish(&rows);
  assert_null(fresh_rows_find(&rows, 2));
  stage(2, 200); /* the next transaction gives the number to another row */
  fresh_rows_publish(&rows);
  assert_non_null(fresh_rows_find(&rows, 1));
  assert_non_null(fresh_rows_find(&rows, 2));
  fresh_rows_remove(&rows, 2);
  assert_int_equal(rows.bytes, 0);
}

static void no_more_is_held_than_there_may_be(void **state) {
  enum { BATCH_BYTES = 1 << 20 };
  uint64_t id = 1, removed = 0;
  (void)state;
  while (stage(id, BATCH_BYTES)) {
    fresh_rows_publish(&rows);
    id++;
    assert_true(id < 100);
  }
  assert_in_range(rows.bytes, FRESH_BYTES_MAX / 2, FRESH_BYTES_MAX);
  assert_null(fresh_rows_find(&rows, id)); /* it is read from the file */
  assert_int_equal(fresh_rows_next(&rows, id), INT64_MAX);
  removed = id / 2;
  fresh_rows_remove(&rows, removed);
  assert_true(stage(id + 1, BATCH_BYTES));
  fresh_rows_publish(&rows);
  assert_non_null(fresh_rows_find(&rows, removed + 1));
  assert_non_null(fresh_rows_find(&rows, id - 1));
  assert_null(fresh_rows_find(&rows, id));
  assert_int_equal(fresh_rows_next(&rows, id), id + 1);
  assert_non_null(fresh_rows_find(&rows, id + 1));
}

static void *settle_soon(void *context) {
  (void)context;
  usleep(20000);
  fresh_rows_remove(&rows, 1000);
  return NULL;
}

static void fill_up(uint64_t id) {
  while (rows.bytes <= FRESH_BYTES_AHEAD) assert_true(stage(id++, 1 << 20));
  fresh_rows_publish(&rows);
}

static void who_appends_waits_for_who_settles(void **state) {
  pthread_t settler;
  (void)state;
  stage(1, 100);
  fresh_rows_publish(&rows);
  fresh_rows_await_room(&rows); /* there is room */
  assert_int_not_equal(rows.bytes, 0);
  fill_up(2);
  assert_int_equal(pthread_create(&settler, NULL, settle_soon, NULL), 0);
  fresh_rows_await_room(&rows);
  assert_int_equal(rows.bytes, 0);
  assert_false(rows.is_stuck); /* it was notified, and did not wait for its timeout */
  pthread_join(settler, NULL);
}

static void nobody_waits_twice_for_what_stands_still(void **state) {
  (void)state;
  fill_up(1);
  fresh_rows_await_room(&rows);
  uint64_t before_ns = clock_monotonic_ns();
  for (int i = 0; i < 1000; i++) fresh_rows_await_room(&rows);
  assert_true(clock_monotonic_ns() - before_ns < 100 * FRESH_WAIT_MS * NS_PER_MS);
  fresh_rows_remove(&rows, 1);
  assert_false(rows.is_stuck);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_row_is_found_once_it_is_durable_and_until_it_is_removed),
      TEST(what_was_rolled_back_is_forgotten),
      TEST(no_more_is_held_than_there_may_be),
      TEST(who_appends_waits_for_who_settles),
      TEST(nobody_waits_twice_for_what_stands_still),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
