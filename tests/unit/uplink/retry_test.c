/* SPDX-License-Identifier: Apache-2.0 */
#include "uplink/retry.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { DRAWS = 2000 };

/* The longest of DRAWS waits from START, each within [LOW_NS + 50 ms, LOW_NS + CAP_NS). */
static uint64_t longest(const struct retry *start, uint64_t low_ns, uint64_t cap_ns) {
  uint64_t longest_ns = 0;
  for (unsigned i = 0; i < DRAWS; i++) {
    struct retry retry = *start;
    uint64_t wait_ns = retry_next_ns(&retry, NS_PER_SECOND);
    assert_in_range(wait_ns, low_ns + 50 * NS_PER_MS, low_ns + cap_ns - 1);
    if (wait_ns > longest_ns) longest_ns = wait_ns;
  }
  return longest_ns;
}

static void the_wait_is_random_up_to_twice_as_long_after_each_failure(void **state) {
  (void)state;
  for (unsigned n = 0; n < 5; n++) {
    uint64_t cap_ns = NS_PER_SECOND << n;
    assert_true(longest(&(struct retry){.failures = n}, 0, cap_ns) > cap_ns / 2);
  }
}

static void the_longest_wait_keeps_its_jitter_however_often_it_failed(void **state) {
  (void)state;
  struct retry retry = {0};
  assert_true(longest(&(struct retry){.failures = 6}, 0, 20 * NS_PER_SECOND) > 15 * NS_PER_SECOND);
  uint64_t sum_ns = 0;
  for (unsigned i = 0; i < DRAWS; i++) {
    uint64_t wait_ns = retry_next_ns(&retry, 0);
    assert_true(wait_ns < 20 * NS_PER_SECOND);
    sum_ns += wait_ns;
  }
  assert_in_range(sum_ns / DRAWS, 8 * NS_PER_SECOND, 12 * NS_PER_SECOND);
}

static void a_success_begins_anew(void **state) {
  (void)state;
  for (unsigned i = 0; i < DRAWS; i++) {
    struct retry retry = {.failures = 9};
    retry_reset(&retry);
    assert_true(retry_next_ns(&retry, 0) < NS_PER_SECOND);
  }
}

static void a_session_that_lasted_a_minute_was_a_success(void **state) {
  (void)state;
  for (unsigned i = 0; i < DRAWS; i++) {
    struct retry retry = {.failures = 9};
    retry_welcome(&retry, NS_PER_SECOND, 0);
    assert_true(retry_next_ns(&retry, 61 * NS_PER_SECOND) < NS_PER_SECOND);
  }
  struct retry retry = {.failures = 9};
  retry_welcome(&retry, NS_PER_SECOND, 0);
  retry_next_ns(&retry, 60 * NS_PER_SECOND);
  assert_int_equal(retry.failures, 10);
  retry_next_ns(&retry, 3600 * NS_PER_SECOND); /* that session is over, and long past */
  assert_int_equal(retry.failures, 11);
}

static void boards_come_back_evenly_within_what_the_collector_said(void **state) {
  (void)state;
  enum { PARTS = 5, PART_MS = 5000 };
  unsigned counts[PARTS] = {0};
  for (unsigned i = 0; i < DRAWS; i++) {
    struct retry retry = {0};
    retry_welcome(&retry, NS_PER_SECOND, PARTS * PART_MS);
    counts[retry_next_ns(&retry, 2 * NS_PER_SECOND) / (PART_MS * NS_PER_MS)]++;
  }
  for (unsigned i = 0; i < PARTS; i++)
    assert_in_range(counts[i], DRAWS / PARTS * 3 / 4, DRAWS / PARTS * 5 / 4);
}

static void a_few_attempts_that_come_too_early_stretch_nothing(void **state) {
  (void)state;
  for (unsigned n = 0; n <= 5; n++)
    longest(&(struct retry){.failures = n, .within_ns = 8 * NS_PER_SECOND}, 0, 8 * NS_PER_SECOND);
  const struct retry patient = {.failures = 6, .within_ns = 8 * NS_PER_SECOND};
  assert_true(longest(&patient, 0, 16 * NS_PER_SECOND) > 8 * NS_PER_SECOND);
  longest(&(struct retry){.failures = 16, .within_ns = 8 * NS_PER_SECOND}, 0, 45 * NS_PER_SECOND);
}

static void what_was_said_holds_until_it_is_said_anew(void **state) {
  (void)state;
  struct retry retry = {0};
  retry_welcome(&retry, 0, 20000);
  retry_next_ns(&retry, 1); /* the session ended, and one attempt after it */
  retry_next_ns(&retry, 2);
  assert_true(longest(&retry, 0, 20 * NS_PER_SECOND) > 10 * NS_PER_SECOND);
  retry_told(&retry, 0);
  assert_true(retry.within_ns == 20 * NS_PER_SECOND);
  retry_told(&retry, 30000);
  assert_true(longest(&retry, 0, 30 * NS_PER_SECOND) > 20 * NS_PER_SECOND);
  retry_told(&retry, UINT32_MAX);
  longest(&retry, 0, 45 * NS_PER_SECOND);
}

static void a_refusal_is_obeyed_once_and_not_by_all_at_once(void **state) {
  (void)state;
  struct retry retry = {.failures = 3};
  retry_asked(&retry, 60000);
  assert_true(longest(&retry, 60 * NS_PER_SECOND, 8 * NS_PER_SECOND) > 64 * NS_PER_SECOND);
  retry_next_ns(&retry, 0);
  assert_true(retry_next_ns(&retry, 0) < 32 * NS_PER_SECOND);
  retry_asked(&retry, UINT32_MAX);
  assert_true(retry_next_ns(&retry, 0) < (15 * 60 + 45) * NS_PER_SECOND);
}

static void a_pause_is_as_asked_and_a_little_more(void **state) {
  (void)state;
  for (unsigned i = 0; i < DRAWS; i++) {
    assert_in_range(retry_pause_ns(4000), 4 * NS_PER_SECOND, 5 * NS_PER_SECOND);
    assert_in_range(retry_pause_ns(0), 100 * NS_PER_MS, 125 * NS_PER_MS);
    assert_in_range(retry_pause_ns(UINT32_MAX), 60 * NS_PER_SECOND, 75 * NS_PER_SECOND);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_wait_is_random_up_to_twice_as_long_after_each_failure),
      cmocka_unit_test(the_longest_wait_keeps_its_jitter_however_often_it_failed),
      cmocka_unit_test(a_success_begins_anew),
      cmocka_unit_test(a_session_that_lasted_a_minute_was_a_success),
      cmocka_unit_test(boards_come_back_evenly_within_what_the_collector_said),
      cmocka_unit_test(a_few_attempts_that_come_too_early_stretch_nothing),
      cmocka_unit_test(what_was_said_holds_until_it_is_said_anew),
      cmocka_unit_test(a_refusal_is_obeyed_once_and_not_by_all_at_once),
      cmocka_unit_test(a_pause_is_as_asked_and_a_little_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
