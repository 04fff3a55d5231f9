/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/patience.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_fleet_is_asked_to_come_back_evenly_and_within_a_minute(void **state) {
  (void)state;
  assert_int_equal(patience_return_ms(0), 1000);
  assert_int_equal(patience_return_ms(100), 1000);
  assert_int_equal(patience_return_ms(1000), 5000);
  assert_int_equal(patience_return_ms(5000), 25000);
  assert_true(patience_return_ms(16384) < 45000);
  assert_true(patience_return_ms(UINT64_MAX / 1000) < 45000);
}

static void small_changes_of_a_fleet_are_no_news(void **state) {
  (void)state;
  assert_false(patience_is_news(1000, 1000));
  assert_false(patience_is_news(5000, 5900));
  assert_false(patience_is_news(5000, 4100));
  assert_true(patience_is_news(5000, 6500));
  assert_true(patience_is_news(5000, 1000));
  assert_true(patience_is_news(0, 1000));
}

static void a_slow_link_is_asked_for_no_patience_and_a_wrong_one_for_a_minute(void **state) {
  (void)state;
  assert_int_equal(patience_refusal_ms(REFUSAL_TIMEOUT), 0);
  assert_int_equal(patience_refusal_ms(REFUSAL_SLOW_READER), 0);
  assert_int_equal(patience_refusal_ms(REFUSAL_MEMORY), 5000);
  assert_int_equal(patience_refusal_ms(REFUSAL_OUTLIVED), 5000); /* it has only to renew */
  assert_int_equal(patience_refusal_ms(REFUSAL_BAD_MESSAGE), 60000);
}

static void the_longer_we_are_behind_the_longer_batches_stay_away(void **state) {
  (void)state;
  assert_int_equal(patience_batch_ms(0), 5000);
  assert_int_equal(patience_batch_ms(12 * NS_PER_SECOND), 12000);
  assert_int_equal(patience_batch_ms(UINT64_MAX), 30000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_fleet_is_asked_to_come_back_evenly_and_within_a_minute),
      cmocka_unit_test(small_changes_of_a_fleet_are_no_news),
      cmocka_unit_test(a_slow_link_is_asked_for_no_patience_and_a_wrong_one_for_a_minute),
      cmocka_unit_test(the_longer_we_are_behind_the_longer_batches_stay_away),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
