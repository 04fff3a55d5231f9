/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_reason_has_a_name_of_its_own(void **state) {
  (void)state;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) {
    assert_string_not_equal(loss_name(i), "unknown");
    for (unsigned j = 0; j < i; j++) assert_string_not_equal(loss_name(i), loss_name(j));
  }
  assert_string_equal(loss_name(LOSS_RING_FULL), "ring_full");
  assert_string_equal(loss_name(LOSS_REASON_COUNT), "unknown");
  assert_string_equal(loss_name(UINT32_MAX), "unknown");
}

static void the_numbers_on_the_wire_do_not_move(void **state) {
  (void)state;
  assert_int_equal(LOSS_RING_FULL, 0);
  assert_int_equal(LOSS_WORKER_KILLED, 2);
  assert_int_equal(LOSS_REJECTED, 7);
  assert_int_equal(LOSS_RUN_ENDED, 9);
  assert_int_equal(LOSS_QUOTA, 10);
}

static void the_total_is_the_sum_and_never_wraps(void **state) {
  (void)state;
  struct counters counters = {0};
  assert_int_equal(loss_total(&counters), 0);
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) counters.dropped[i] = i + 1;
  assert_int_equal(loss_total(&counters), LOSS_REASON_COUNT * (LOSS_REASON_COUNT + 1) / 2);
  counters.dropped[3] = UINT64_MAX;
  assert_true(loss_total(&counters) == UINT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_reason_has_a_name_of_its_own),
      cmocka_unit_test(the_numbers_on_the_wire_do_not_move),
      cmocka_unit_test(the_total_is_the_sum_and_never_wraps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
