/* SPDX-License-Identifier: Apache-2.0 */
#include "targets/toll.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void who_has_spent_its_burst_waits_until_it_has_leaked(void **state) {
  (void)state;
  struct toll toll = {.debt_ns = TOLL_BURST_MS * NS_PER_MS};
  assert_false(toll_may_pass(&toll, 1));
  assert_true(toll_may_pass(&toll, 100 * NS_PER_MS));
  assert_true(toll.debt_ns < (TOLL_BURST_MS - TOLL_SHARE_PERCENT + 1) * NS_PER_MS);
}

static void who_spends_little_never_waits(void **state) {
  (void)state;
  struct toll toll = {0};
  for (uint64_t now = 0; now < 100 * NS_PER_SECOND; now += 100 * NS_PER_MS) {
    assert_true(toll_may_pass(&toll, now));
    toll.debt_ns += 19 * NS_PER_MS;
  }
}

static void in_the_long_run_nobody_gets_more_than_the_share(void **state) {
  (void)state;
  struct toll toll = {0};
  uint64_t spent = 0, span = 100 * NS_PER_SECOND;
  for (uint64_t now = 0; now < span; now += 20 * NS_PER_MS) {
    if (!toll_may_pass(&toll, now)) continue;
    toll.debt_ns += TOLL_TURN_MS * NS_PER_MS;
    spent += TOLL_TURN_MS * NS_PER_MS;
  }
  assert_true(spent <=
              span / 100 * TOLL_SHARE_PERCENT + (TOLL_BURST_MS + TOLL_TURN_MS) * NS_PER_MS);
}

static void a_turn_costs_what_the_clock_of_this_process_says(void **state) {
  (void)state;
  struct toll toll = {0};
  assert_true(toll_begin(&toll, 1));
  while (!toll_is_over(&toll)) continue;
  toll_end(&toll);
  assert_true(toll.debt_ns >= NS_PER_MS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_has_spent_its_burst_waits_until_it_has_leaked),
      cmocka_unit_test(who_spends_little_never_waits),
      cmocka_unit_test(in_the_long_run_nobody_gets_more_than_the_share),
      cmocka_unit_test(a_turn_costs_what_the_clock_of_this_process_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
