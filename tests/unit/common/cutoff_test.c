/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cutoff.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void none_is_never_past(void **state) {
  (void)state;
  const struct cutoff empty = {0};
  assert_false(cutoff_is_past(NULL));
  assert_false(cutoff_is_past(&empty));
}

static void a_deadline_is_past_when_it_is_there(void **state) {
  (void)state;
  struct cutoff cutoff = {.deadline_ns = clock_monotonic_ns()};
  assert_true(cutoff_is_past(&cutoff));
  cutoff.deadline_ns += 3600 * NS_PER_SECOND;
  assert_false(cutoff_is_past(&cutoff));
}

static void who_asked_may_go_before_it(void **state) {
  (void)state;
  atomic_bool is_abandoned = false;
  const struct cutoff cutoff = {.is_abandoned = &is_abandoned, .deadline_ns = UINT64_MAX};
  assert_false(cutoff_is_past(&cutoff));
  is_abandoned = true;
  assert_true(cutoff_is_past(&cutoff));
}

static void a_loop_looks_at_each_so_many_steps(void **state) {
  (void)state;
  const struct cutoff cutoff = {.deadline_ns = 1};
  assert_true(cutoff_is_at(&cutoff, 0));
  assert_false(cutoff_is_at(&cutoff, 1));
  assert_false(cutoff_is_at(&cutoff, CUTOFF_STEPS - 1));
  assert_true(cutoff_is_at(&cutoff, 2 * CUTOFF_STEPS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(none_is_never_past),
      cmocka_unit_test(a_deadline_is_past_when_it_is_there),
      cmocka_unit_test(who_asked_may_go_before_it),
      cmocka_unit_test(a_loop_looks_at_each_so_many_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
