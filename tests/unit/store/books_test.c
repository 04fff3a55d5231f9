/* SPDX-License-Identifier: Apache-2.0 */
/* A run's counters add up, in any order of its reports. */
#include "store/books.h"

#include "common/buf.h"
#include "common/sums.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t dropped_total(const struct books_balance *balance) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) sum += balance->dropped[i];
  return sum;
}

static void assert_closed(const struct books *books, uint64_t pending) {
  struct books_balance balance;
  books_balance(books, &balance);
  assert_int_equal(balance.pending, pending);
  assert_int_equal(balance.produced, balance.stored + dropped_total(&balance) + balance.pending);
}

static void what_is_neither_stored_nor_lost_is_pending(void **state) {
  (void)state;
  struct books books = {.stored = 60};
  struct counters counters = {.produced = 100, .shipped = 90, .dropped = {[LOSS_RING_FULL] = 5}};
  books_report(&books, &counters);
  assert_closed(&books, 35);
}

static void an_older_report_moves_nothing_back(void **state) {
  (void)state;
  struct books books = {.stored = 60};
  struct counters newest = {.produced = 100, .shipped = 70, .dropped = {[LOSS_SPOOL_FULL] = 20}};
  struct counters older = {.produced = 100, .shipped = 90};
  struct counters oldest = {.produced = 50, .shipped = 50};
  books_report(&books, &newest);
  books_report(&books, &older);
  books_report(&books, &oldest);
  assert_int_equal(books.board.shipped, 70);
  assert_int_equal(books.board.dropped[LOSS_SPOOL_FULL], 20);
  assert_closed(&books, 20);
}

static void a_run_that_ended_has_lost_its_open_window(void **state) {
  (void)state;
  struct books books = {.stored = 60};
  struct books_balance balance;
  struct counters final = {
      .produced = 100, .shipped = 80, .dropped = {[LOSS_REENTRY] = 5}, .final = 1};
  books_report(&books, &final);
  books_balance(&books, &balance);
  assert_int_equal(balance.dropped[LOSS_RUN_ENDED], 15);
  assert_closed(&books, 20); /* shipped, still in the spool */
  books.stored = 80;
  assert_closed(&books, 0);
}

static void a_run_stays_ended_when_an_older_report_follows(void **state) {
  (void)state;
  struct books books = {0};
  struct counters final = {.produced = 10, .shipped = 4, .final = 1};
  struct counters older = {.produced = 8, .shipped = 4};
  books_report(&books, &final);
  books_report(&books, &older);
  assert_int_equal(books.board.final, 1);
  assert_closed(&books, 4);
}

static void a_refused_batch_counts_once_whoever_counts_it(void **state) {
  (void)state;
  struct books books = {.stored = 60, .refused = 10};
  struct books_balance balance;
  struct counters before = {.produced = 100, .shipped = 100};
  struct counters after = {.produced = 100, .shipped = 90, .dropped = {[LOSS_REJECTED] = 10}};
  books_report(&books, &before);
  books_balance(&books, &balance);
  assert_int_equal(balance.dropped[LOSS_REJECTED], 10);
  assert_closed(&books, 30);
  books_report(&books, &after);
  books_balance(&books, &balance);
  assert_int_equal(balance.dropped[LOSS_REJECTED], 10);
  assert_closed(&books, 30);
}

static void a_batch_over_a_quota_counts_once_under_that_name(void **state) {
  (void)state;
  struct books books = {.stored = 60, .refused = 15};
  struct books_balance balance;
  struct counters after = {
      .produced = 100, .shipped = 85, .dropped = {[LOSS_REJECTED] = 5, [LOSS_QUOTA] = 10}};
  books_report(&books, &after);
  books_balance(&books, &balance);
  assert_int_equal(balance.dropped[LOSS_REJECTED], 5);
  assert_int_equal(balance.dropped[LOSS_QUOTA], 10);
  assert_closed(&books, 25);
}

static void a_refused_batch_that_claims_too_much_takes_only_what_is_open(void **state) {
  (void)state;
  struct books books = {.stored = 60, .refused = UINT64_MAX / 2};
  struct counters counters = {.produced = 100, .shipped = 100};
  books_report(&books, &counters);
  assert_closed(&books, 0);
}

static void nothing_is_ever_negative(void **state) {
  (void)state;
  struct books books = {.stored = 60};
  struct books_balance balance;
  struct counters lies = {
      .produced = 10, .shipped = 500, .dropped = {[LOSS_REENTRY] = 90}, .final = 1};
  books_report(&books, &lies);
  books_balance(&books, &balance);
  assert_int_equal(balance.pending, 0);
  assert_int_equal(balance.dropped[LOSS_RUN_ENDED], 0);
}

static void a_run_has_made_what_it_stored_and_lost_before_that(void **state) {
  (void)state;
  struct books books = {.stored = 60, .board = {.produced = 100}};
  books.board.dropped[LOSS_RING_FULL] = 30;
  books.board.dropped[LOSS_RUN_ENDED] = 10;
  books.board.dropped[LOSS_SPOOL_FULL] = SUM_MAX; /* it may be stored all the same */
  assert_true(books_are_possible(&books));
  assert_closed(&books, 0);
  books.board.dropped[LOSS_BAD_RECORD] = 1;
  assert_false(books_are_possible(&books));
  books.stored = books.board.dropped[LOSS_REENTRY] = SUM_MAX;
  assert_false(books_are_possible(&books));
}

static void sums_of_balances_stop_at_the_largest_number(void **state) {
  (void)state;
  const struct books_balance more = {.produced = SUM_MAX - 1, .stored = 5};
  struct books_balance sum = {.produced = 1};
  books_add(&sum, &more);
  assert_int_equal(sum.produced, SUM_MAX);
  books_add(&sum, &more);
  assert_int_equal(sum.produced, SUM_MAX);
  assert_int_equal(sum.stored, 10);
}

static void nothing_produced_or_lost_becomes_less(void **state) {
  (void)state;
  struct books books = {.stored = 10};
  const struct counters first = {.produced = 100, .dropped = {[LOSS_RING_FULL] = 20}};
  const struct counters second = {.produced = 10, .dropped = {[LOSS_REENTRY] = SUM_MAX}};
  books_report(&books, &first);
  books_report(&books, &second);
  assert_int_equal(books.board.produced, 100);
  assert_int_equal(books.board.dropped[LOSS_RING_FULL], 20);
}

static void changes_of_losses_come_back_signed(void **state) {
  (void)state;
  struct books_balance before = {.dropped = {[LOSS_RUN_ENDED] = 9, [LOSS_REENTRY] = 1}};
  struct books_balance after = {.dropped = {[LOSS_RUN_ENDED] = 4, [LOSS_REENTRY] = 3}};
  struct buf bytes = {0};
  int64_t change[LOSS_REASON_COUNT];
  books_change_encode(&before, &before, &bytes);
  assert_int_equal(bytes.len, 0);
  books_change_encode(&before, &after, &bytes);
  assert_int_equal(books_change_decode(buf_span(&bytes), change), 0);
  assert_int_equal(change[LOSS_RUN_ENDED], -5);
  assert_int_equal(change[LOSS_REENTRY], 2);
  assert_int_equal(change[LOSS_RING_FULL], 0);
  bytes.data[bytes.len - 1] = 0x80;
  assert_int_equal(books_change_decode(buf_span(&bytes), change), -EBADMSG);
  buf_fini(&bytes);
}

static void losses_of_an_older_version_read_as_zeros(void **state) {
  (void)state;
  static const uint8_t two[] = {7, 9};
  uint64_t loss[LOSS_REASON_COUNT];
  assert_int_equal(books_loss_decode(span_of(two, sizeof two), loss), 0);
  assert_int_equal(loss[0], 7);
  assert_int_equal(loss[1], 9);
  assert_int_equal(loss[LOSS_REASON_COUNT - 1], 0);
}

static void what_is_stored_was_not_lost_whatever_the_board_counts(void **state) {
  (void)state;
  struct books books = {.stored = 80};
  struct books_balance balance;
  struct counters counters = {
      .produced = 100,
      .shipped = 70,
      .dropped = {[LOSS_RING_FULL] = 10, [LOSS_SPOOL_FULL] = 15, [LOSS_WORKER_KILLED] = 5}};
  books_report(&books, &counters);
  books_balance(&books, &balance);
  assert_int_equal(balance.dropped[LOSS_RING_FULL], 10);
  assert_int_equal(balance.dropped[LOSS_SPOOL_FULL], 5);
  assert_int_equal(balance.dropped[LOSS_WORKER_KILLED], 5);
  assert_closed(&books, 0);
}

static void a_settled_run_has_nothing_pending(void **state) {
  (void)state;
  struct books books = {.stored = 60};
  struct books_balance balance;
  struct counters counters = {.produced = 100, .shipped = 90, .dropped = {[LOSS_REENTRY] = 5}};
  books_report(&books, &counters);
  books_settle(&books);
  books_balance(&books, &balance);
  assert_int_equal(balance.dropped[LOSS_RUN_ENDED], 35);
  assert_closed(&books, 0);
  books.stored = 70; /* the last report completes them */
  assert_closed(&books, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_neither_stored_nor_lost_is_pending),
      cmocka_unit_test(an_older_report_moves_nothing_back),
      cmocka_unit_test(a_run_that_ended_has_lost_its_open_window),
      cmocka_unit_test(a_run_stays_ended_when_an_older_report_follows),
      cmocka_unit_test(a_refused_batch_counts_once_whoever_counts_it),
      cmocka_unit_test(a_batch_over_a_quota_counts_once_under_that_name),
      cmocka_unit_test(a_refused_batch_that_claims_too_much_takes_only_what_is_open),
      cmocka_unit_test(nothing_is_ever_negative),
      cmocka_unit_test(a_run_has_made_what_it_stored_and_lost_before_that),
      cmocka_unit_test(sums_of_balances_stop_at_the_largest_number),
      cmocka_unit_test(nothing_produced_or_lost_becomes_less),
      cmocka_unit_test(changes_of_losses_come_back_signed),
      cmocka_unit_test(losses_of_an_older_version_read_as_zeros),
      cmocka_unit_test(what_is_stored_was_not_lost_whatever_the_board_counts),
      cmocka_unit_test(a_settled_run_has_nothing_pending),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
