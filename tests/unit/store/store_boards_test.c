/* SPDX-License-Identifier: Apache-2.0 */
/* Boards in the store: their reports about themselves, and books that close. */
#include "store_fixture.h"

#include "common/sums.h"
#include "store/board_table.h"

#include <errno.h>

#include "proto/limits.h"

static void what_a_board_says_of_itself_is_kept_and_only_added_to(void **state) {
  struct world *world = *state;
  const struct label labels[] = {{"site", "north"}};
  const struct effort effort = {.asked_mhz = 99000, .rate_reason = "ctl", .budget_state = "within"};
  struct store_board_seen seen = {.board = "b1",
                                  .effort = &effort,
                                  .arch = "armv7l",
                                  .kernel = "4.9",
                                  .version = "0.1",
                                  .sampler = "perf",
                                  .clock = "synced",
                                  .achieved_mhz = 99000,
                                  .label_count = 1,
                                  .labels = labels,
                                  .seen_ms = NOON_MS};
  assert_int_equal(store_board_seen(world->store, &seen), 0);
  seen = (struct store_board_seen){.board = "b1", .arch = "", .seen_ms = NOON_MS + 5};
  assert_int_equal(store_board_seen(world->store, &seen), 0);
  struct store_board board = board_of(world->store, "b1");
  assert_int_equal(board.achieved_mhz, 99000);
  assert_int_equal(board.effort.asked_mhz, 99000);
  assert_int_equal(board.label_count, 1);
  assert_int_equal(board.first_seen_ms, NOON_MS);
  assert_int_equal(board.last_seen_ms, NOON_MS + 5);
}

static void see(struct store *store, struct store_board_seen seen) {
  seen.board = "b1";
  assert_int_equal(store_board_seen(store, &seen), 0);
}

static void assert_seen(struct store *store, uint64_t first_ms, uint64_t last_ms, uint32_t mhz) {
  struct store_board board = board_of(store, "b1");
  assert_int_equal(board.first_seen_ms, first_ms);
  assert_int_equal(board.last_seen_ms, last_ms);
  assert_int_equal(board.achieved_mhz, mhz);
}

enum { WORDS_BYTES = 64 };

static int keep_words(void *context, const struct store_board *board) {
  snprintf(context, WORDS_BYTES, "%s, %s", board->sampler, board->clock);
  return 0;
}

/* Most reports repeat known values and are stored without looking the board up. */
static void what_a_board_says_again_and_again_is_kept_as_if_it_were_news(void **state) {
  struct world *world = *state;
  struct store *store = world->store;
  see(store, (struct store_board_seen){
                 .sampler = "perf", .clock = "synced", .achieved_mhz = 99000, .seen_ms = NOON_MS});
  see(store, (struct store_board_seen){
                 .sampler = "perf", .achieved_mhz = 98000, .asked_mhz = 99000, .seen_ms = NOON_MS});
  assert_seen(store, NOON_MS, NOON_MS, 98000);
  assert_int_equal(board_of(store, "b1").effort.asked_mhz, 99000);
  see(store, (struct store_board_seen){.asked_mhz = 199000, .seen_ms = NOON_MS + 20});
  assert_seen(store, NOON_MS, NOON_MS + 20, 98000);
  assert_int_equal(board_of(store, "b1").effort.asked_mhz, 199000);
  see(store, (struct store_board_seen){.achieved_mhz = 97000, .seen_ms = NOON_MS - 1000});
  assert_seen(store, NOON_MS - 1000, NOON_MS + 20, 97000); /* a late one widens the span */
  see(store, (struct store_board_seen){.achieved_mhz = 96000, .seen_ms = NOON_MS + 10});
  assert_seen(store, NOON_MS - 1000, NOON_MS + 20, 96000);
  see(store, (struct store_board_seen){.sampler = "timer", .seen_ms = NOON_MS + 30});
  see(store, (struct store_board_seen){.clock = "estimated", .seen_ms = NOON_MS + 40});
  reopen_store(world);
  assert_seen(world->store, NOON_MS - 1000, NOON_MS + 40, 96000);
  assert_int_equal(board_of(world->store, "b1").effort.asked_mhz, 199000);
  char words[WORDS_BYTES];
  assert_int_equal(store_boards(world->store, keep_words, words), 0);
  assert_string_equal(words, "timer, estimated");
}

/* A clock of a board or of ours was wrong, and is right now. */
static void a_board_is_not_last_seen_in_the_future_once_it_comes_again(void **state) {
  struct world *world = *state;
  const uint64_t year_ms = 365 * 86400000ULL;
  see(world->store, (struct store_board_seen){.seen_ms = NOON_MS + 10 * year_ms});
  see(world->store, (struct store_board_seen){.seen_ms = 3600000}); /* ours is of 1970 */
  assert_seen(world->store, 3600000, NOON_MS + 10 * year_ms, 0);
  see(world->store, (struct store_board_seen){.seen_ms = NOON_MS});
  assert_seen(world->store, 3600000, NOON_MS, 0);
  see(world->store, (struct store_board_seen){.seen_ms = NOON_MS - 60000}); /* a late word */
  assert_seen(world->store, 3600000, NOON_MS, 0);
}

static void a_batch_says_what_was_asked_beside_what_is_known_of_the_cost(void **state) {
  struct world *world = *state;
  const struct effort effort = {.asked_mhz = 99000, .sample_ns = 2800, .budget_state = "within"};
  struct store_board_seen seen = {.board = "b1", .asked_mhz = 199000, .seen_ms = NOON_MS};
  assert_int_equal(store_board_seen(world->store, &seen), 0);
  struct store_board board = board_of(world->store, "b1");
  assert_int_equal(board.effort.asked_mhz, 199000); /* and the cost is unknown */
  assert_int_equal(board.effort.sample_ns, 0);
  seen = (struct store_board_seen){.board = "b1", .effort = &effort, .seen_ms = NOON_MS};
  assert_int_equal(store_board_seen(world->store, &seen), 0);
  assert_int_equal(board_of(world->store, "b1").effort.asked_mhz, 99000);
  seen = (struct store_board_seen){.board = "b1", .asked_mhz = 499000, .seen_ms = NOON_MS};
  assert_int_equal(store_board_seen(world->store, &seen), 0);
  board = board_of(world->store, "b1");
  assert_int_equal(board.effort.asked_mhz, 499000);
  assert_int_equal(board.effort.sample_ns, 2800);
  seen.effort = &effort; /* of another target than the batch's busiest */
  assert_int_equal(store_board_seen(world->store, &seen), 0);
  assert_int_equal(board_of(world->store, "b1").effort.asked_mhz, 499000);
}

static void the_books_close_over_batches_pings_and_refusals(void **state) {
  struct world *world = *state;
  struct counters counters = {
      .run = 1, .produced = 1000, .shipped = 900, .dropped = {[LOSS_RING_FULL] = 40}};
  const struct store_board_seen ping = {
      .board = "b1", .counters = &counters, .seen_ms = NOON_MS + 60000};
  const struct store_refusal refusal = {.board = "b1", .run = 1, .seq = 2, .records = 50};
  append_new(world->store, "b1", 1, 1, NOON_MS);
  assert_books_close(world->store, "b1");
  assert_int_equal(store_board_seen(world->store, &ping), 0);
  assert_books_close(world->store, "b1");
  assert_int_equal(store_refused(world->store, &refusal), 0);
  assert_int_equal(store_refused(world->store, &refusal), 0);
  struct store_board board = board_of(world->store, "b1");
  assert_int_equal(board.dropped[LOSS_REJECTED], 50);
  assert_int_equal(board.dropped[LOSS_RING_FULL], 40);
  assert_books_close(world->store, "b1");
  counters.dropped[LOSS_REJECTED] = 50; /* the board knows of the rejection */
  counters.shipped = 850;
  counters.final = 1;
  assert_int_equal(store_board_seen(world->store, &ping), 0);
  board = board_of(world->store, "b1");
  assert_int_equal(board.dropped[LOSS_REJECTED], 50);
  assert_int_equal(board.dropped[LOSS_RUN_ENDED], 60);
  assert_books_close(world->store, "b1");
  reopen_store(world);
  assert_books_close(world->store, "b1");
}

static enum store_outcome append_lie(struct store *store, uint64_t seq, uint64_t produced,
                                     uint64_t lost) {
  struct made_batch made;
  make_batch(&made, 1, seq);
  made.batch.counters.produced = produced;
  made.batch.counters.dropped[LOSS_RING_FULL] = lost;
  seal_batch(&made);
  struct store_append append = append_of(&made, "b1", NOON_MS);
  assert_int_equal(store_append(store, &append, 1), 0);
  free_batch(&made);
  return append.outcome;
}

static void books_that_cannot_be_are_refused_and_stand_in_the_boards_row(void **state) {
  struct world *world = *state;
  struct counters counters = {.run = 1, .produced = 1, .dropped = {[LOSS_REENTRY] = 2}};
  const struct store_board_seen ping = {
      .board = "b1", .counters = &counters, .seen_ms = NOON_MS + 60000};
  assert_int_equal(append_new(world->store, "b1", 1, 1, NOON_MS), STORE_STORED); /* 90 records */
  assert_int_equal(append_lie(world->store, 2, 179, 0), STORE_REFUSED);
  assert_int_equal(append_lie(world->store, 3, 180, 1), STORE_REFUSED);
  assert_int_equal(append_lie(world->store, 2, 180, 0), STORE_DUPLICATE);
  assert_int_equal(store_board_seen(world->store, &ping), -ERANGE);
  struct store_board board = board_of(world->store, "b1");
  assert_int_equal(board.stored, 90);
  assert_int_equal(board.produced, 90);
  assert_int_equal(board.refused, 3);
  assert_int_equal(board.refused_ms, NOON_MS + 60000);
  assert_int_equal(append_lie(world->store, 4, 270, 90), STORE_STORED);
  assert_books_close(world->store, "b1");
  assert_int_equal(scan_all(world->store).count, 180);
  assert_int_equal(append_new(world->store, "b2", 1, 1, NOON_MS), STORE_STORED);
  assert_int_equal(board_of(world->store, "b2").refused, 0);
  reopen_store(world);
  assert_int_equal(board_of(world->store, "b1").refused, 3);
}

static void assert_cpus(struct world *world, uint32_t said, uint64_t seen_ms, uint32_t cpus,
                        uint32_t most, uint64_t changed_ms) {
  const struct store_board_seen seen = {
      .board = "b1", .sampler = "perf", .cpus = said, .seen_ms = seen_ms};
  assert_int_equal(store_board_seen(world->store, &seen), 0);
  struct store_board board = board_of(world->store, "b1");
  assert_int_equal(board.cpus, cpus);
  assert_int_equal(board.cpus_most, most);
  assert_int_equal(board.cpus_changed_ms, changed_ms);
}

static void a_board_that_says_another_number_of_cpus_has_that_in_its_row(void **state) {
  struct world *world = *state;
  assert_cpus(world, 0, NOON_MS, 0, 0, 0);
  assert_cpus(world, 4, NOON_MS + 1, 4, 4, 0);
  assert_cpus(world, 4, NOON_MS + 2, 4, 4, 0);
  assert_cpus(world, 8192, NOON_MS + 3, 8192, 8192, NOON_MS + 3);
  assert_cpus(world, 0, NOON_MS + 4, 8192, 8192, NOON_MS + 3);
  assert_cpus(world, 2, NOON_MS + 5, 2, 8192, NOON_MS + 5);
  assert_cpus(world, 4096, NOON_MS + 60004, 2, 8192, NOON_MS + 5); /* once a minute */
  assert_cpus(world, 4096, NOON_MS + 60005, 4096, 8192, NOON_MS + 60005);
  reopen_store(world);
  assert_cpus(world, 4096, NOON_MS + 60006, 4096, 8192, NOON_MS + 60005);
  assert_cpus(world, 4, NOON_MS + 60007, 4, 8192, NOON_MS + 60007);
}

static int runs_of(sqlite3_stmt *statement) {
  return sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0);
}

static void a_board_that_alternates_its_cpus_takes_no_longer_than_others(void **state) {
  struct board_table table = {0};
  struct board_row row;
  sqlite3 *db = NULL;
  (void)state;
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, BOARD_TABLE_SCHEMA, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(board_table_open(db, &table), 0);
  for (unsigned i = 0; i < 1000; i++) { /* a tenth of a second each */
    const struct store_board_seen seen = {
        .board = "b1", .sampler = "perf", .cpus = 4 + i % 2, .seen_ms = NOON_MS + i * 100};
    assert_int_equal(board_table_seen(&table, &seen, &row), 0);
  }
  assert_int_equal(runs_of(table.seen), 1);
  assert_int_equal(runs_of(table.cpus), 4); /* the first, the most, a change, and one a minute on */
  board_table_close(&table);
  sqlite3_close(db);
}

static void the_books_of_a_board_stop_at_the_largest_number(void **state) {
  struct world *world = *state;
  struct store_board_seen seen = {.board = "b1", .seen_ms = NOON_MS};
  struct counters counters = {.produced = SUM_MAX, .shipped = SUM_MAX};
  uint64_t produced = 0;
  seen.counters = &counters;
  for (counters.run = 1; counters.run <= 4; counters.run++) {
    assert_int_equal(store_board_seen(world->store, &seen), 0);
    struct store_board board = board_of(world->store, "b1");
    assert_true(board.produced >= produced && board.pending <= SUM_MAX);
    produced = board.produced;
  }
  assert_int_equal(produced, SUM_MAX);
}

static void losses_stand_at_the_time_of_their_batch(void **state) {
  struct world *world = *state;
  uint64_t loss[LOSS_REASON_COUNT] = {0};
  for (uint64_t seq = 1; seq <= 3; seq++) {
    struct made_batch made;
    make_batch(&made, 1, seq);
    made.batch.counters.dropped[LOSS_RING_FULL] = seq * 10; /* cumulative */
    made.batch.counters.produced = 10000;
    seal_batch(&made);
    struct store_append append = append_of(&made, "b1", NOON_MS + seq * 10000);
    assert_int_equal(store_append(world->store, &append, 1), 0);
    free_batch(&made);
  }
  assert_int_equal(
      store_loss_in_range(world->store, ONLY("b1"), NOON_MS + 20000, NOON_MS + 30000, NULL, loss),
      0);
  assert_int_equal(loss[LOSS_RING_FULL], 10);
  assert_int_equal(store_loss_in_range(world->store, ONLY("b2"), 0, UINT64_MAX, NULL, loss), 0);
  assert_int_equal(store_loss_in_range(world->store, &(const struct store_names){NULL, 0}, 0,
                                       UINT64_MAX, NULL, loss),
                   0);
  assert_int_equal(loss[LOSS_RING_FULL], 10);
  assert_int_equal(store_loss_in_range(world->store, NULL, 0, UINT64_MAX, NULL, loss), 0);
  assert_int_equal(loss[LOSS_RING_FULL], 40); /* added to the earlier ones */
}

static void runs_over_the_limit_are_folded_and_still_in_the_books(void **state) {
  struct world *world = *state;
  struct store_board_seen seen = {.board = "b1"};
  for (uint64_t run = 1; run <= 4100; run++) {
    struct counters counters = {
        .run = run, .produced = 10, .shipped = 4, .dropped = {[LOSS_RING_FULL] = 3}};
    seen.counters = &counters;
    seen.seen_ms = NOON_MS + run;
    assert_int_equal(store_board_seen(world->store, &seen), 0);
  }
  struct store_board board = board_of(world->store, "b1");
  assert_int_equal(board.produced, 41000);
  assert_int_equal(board.dropped[LOSS_RING_FULL], 12300);
  assert_int_equal(board.dropped[LOSS_RUN_ENDED], 4 * 7);
  assert_int_equal(board.pending, 4096 * 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_a_board_says_of_itself_is_kept_and_only_added_to),
      TEST(a_board_is_not_last_seen_in_the_future_once_it_comes_again),
      TEST(what_a_board_says_again_and_again_is_kept_as_if_it_were_news),
      TEST(a_batch_says_what_was_asked_beside_what_is_known_of_the_cost),
      TEST(books_that_cannot_be_are_refused_and_stand_in_the_boards_row),
      TEST(a_board_that_says_another_number_of_cpus_has_that_in_its_row),
      cmocka_unit_test(a_board_that_alternates_its_cpus_takes_no_longer_than_others),
      TEST(the_books_of_a_board_stop_at_the_largest_number),
      TEST(the_books_close_over_batches_pings_and_refusals),
      TEST(losses_stand_at_the_time_of_their_batch),
      TEST(runs_over_the_limit_are_folded_and_still_in_the_books),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
