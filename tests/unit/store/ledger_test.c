/* SPDX-License-Identifier: Apache-2.0 */
/* The dedupe ledger against a plain set of bits. */
#include "store/ledger.h"

#include "common/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_round_trip(const struct ledger *ledger) {
  struct ledger again;
  struct buf bytes = {0};
  ledger_encode(ledger, &bytes);
  assert_int_equal(ledger_decode(buf_span(&bytes), &again), 0);
  assert_int_equal(again.count, ledger->count);
  assert_memory_equal(again.ranges, ledger->ranges, ledger->count * sizeof ledger->ranges[0]);
  buf_fini(&bytes);
}

static void seqs_in_order_are_one_range_of_two_bytes(void **state) {
  (void)state;
  struct ledger ledger = {0};
  struct buf bytes = {0};
  for (uint64_t seq = 1; seq <= 100; seq++) assert_true(ledger_add(&ledger, seq));
  assert_int_equal(ledger.count, 1);
  assert_true(ledger_has(&ledger, 1) && ledger_has(&ledger, 100));
  assert_false(ledger_has(&ledger, 0) || ledger_has(&ledger, 101));
  ledger_encode(&ledger, &bytes);
  assert_int_equal(bytes.len, 2);
  buf_fini(&bytes);
}

static void any_order_gives_the_same_set(void **state) {
  (void)state;
  struct ledger ledger = {0};
  bool is_in[200] = {false};
  srand(7);
  for (int i = 0; i < 2000; i++) {
    uint64_t seq = (uint64_t)rand() % 200;
    assert_int_equal(ledger_has(&ledger, seq), is_in[seq]);
    assert_true(ledger_add(&ledger, seq));
    is_in[seq] = true;
    for (uint64_t at = 0; at < 200; at++) assert_int_equal(ledger_has(&ledger, at), is_in[at]);
    if (i % 50 == 0) assert_round_trip(&ledger);
  }
}

static void the_ends_of_the_number_range_are_seqs_like_others(void **state) {
  (void)state;
  struct ledger ledger = {0};
  assert_true(ledger_add(&ledger, UINT64_MAX));
  assert_true(ledger_add(&ledger, 0));
  assert_true(ledger_add(&ledger, UINT64_MAX - 1));
  assert_int_equal(ledger.count, 2);
  assert_round_trip(&ledger);
}

static void over_the_limit_the_oldest_gap_closes_and_says_so(void **state) {
  (void)state;
  struct ledger ledger = {0};
  for (uint64_t i = 0; i < LEDGER_RANGES_MAX; i++) assert_true(ledger_add(&ledger, 10 + 2 * i));
  assert_false(ledger_has(&ledger, 11));
  assert_false(ledger_add(&ledger, 10 + 2 * LEDGER_RANGES_MAX));
  assert_int_equal(ledger.count, LEDGER_RANGES_MAX);
  assert_true(ledger_has(&ledger, 11)); /* forgotten */
  assert_false(ledger_has(&ledger, 13));
  assert_true(ledger_has(&ledger, 10 + 2 * LEDGER_RANGES_MAX));
  assert_round_trip(&ledger);
}

static void a_merged_set_has_what_either_had(void **state) {
  (void)state;
  for (unsigned round = 0; round < 200; round++) {
    struct ledger one = {0}, two = {0};
    bool is_in[100] = {false};
    uint64_t count = 0;
    for (unsigned i = 0; i < 60; i++) {
      uint64_t seq = (uint64_t)rand() % 100;
      ledger_add(i % 2 == 0 ? &one : &two, seq);
      count += !is_in[seq];
      is_in[seq] = true;
    }
    ledger_merge(&one, &two);
    assert_int_equal(ledger_size(&one), count);
    for (uint64_t seq = 0; seq < 100; seq++) assert_int_equal(ledger_has(&one, seq), is_in[seq]);
    assert_round_trip(&one);
  }
  struct ledger low = {0}, high = {0};
  for (uint64_t i = 0; i < LEDGER_RANGES_MAX; i++) {
    ledger_add(&low, 4 * i);
    ledger_add(&high, 4 * i + 2);
  }
  ledger_add(&high, UINT64_MAX);
  ledger_merge(&low, &high);
  assert_int_equal(low.count, LEDGER_RANGES_MAX); /* the oldest gaps are closed */
  assert_true(ledger_has(&low, 1) && ledger_has(&low, UINT64_MAX));
}

static void malformed_bytes_are_refused(void **state) {
  (void)state;
  static const uint8_t cut[] = {1}, no_gap[] = {1, 1, 0, 1}, endless[] = {0x80};
  static const uint8_t wraps[] = {5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
  struct ledger ledger = {.count = 9};
  assert_int_equal(ledger_decode(span_of(cut, sizeof cut), &ledger), -EBADMSG);
  assert_int_equal(ledger_decode(span_of(no_gap, sizeof no_gap), &ledger), -EBADMSG);
  assert_int_equal(ledger_decode(span_of(endless, sizeof endless), &ledger), -EBADMSG);
  assert_int_equal(ledger_decode(span_of(wraps, sizeof wraps), &ledger), -EBADMSG);
  assert_int_equal(ledger.count, 9);
  uint8_t many[2 * (LEDGER_RANGES_MAX + 1)];
  for (size_t i = 0; i < sizeof many; i++) many[i] = i % 2 == 0;
  assert_int_equal(ledger_decode(span_of(many, sizeof many), &ledger), -EBADMSG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seqs_in_order_are_one_range_of_two_bytes),
      cmocka_unit_test(any_order_gives_the_same_set),
      cmocka_unit_test(the_ends_of_the_number_range_are_seqs_like_others),
      cmocka_unit_test(over_the_limit_the_oldest_gap_closes_and_says_so),
      cmocka_unit_test(a_merged_set_has_what_either_had),
      cmocka_unit_test(malformed_bytes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
