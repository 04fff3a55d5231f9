/* SPDX-License-Identifier: Apache-2.0 */
#include "uplink/retry.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { DRAWS = 2000 };

/* The longest of DRAWS waits after FAILURES failures; each must be within [50 ms, CAP_NS). */
static uint64_t longest(unsigned failures, uint64_t cap_ns) {
  uint64_t longest_ns = 0;
  for (unsigned i = 0; i < DRAWS; i++) {
    struct retry retry = {.failures = failures};
    uint64_t wait_ns = retry_next_ns(&retry);
    assert_in_range(wait_ns, 50 * NS_PER_MS, cap_ns - 1);
    if (wait_ns > longest_ns) longest_ns = wait_ns;
  }
  return longest_ns;
}

static void the_wait_is_random_up_to_twice_as_long_after_each_failure(void **state) {
  (void)state;
  for (unsigned n = 0; n < 5; n++)
    assert_true(longest(n, NS_PER_SECOND << n) > NS_PER_SECOND << n >> 1);
}

static void a_minute_is_the_longest_however_often_it_failed(void **state) {
  (void)state;
  struct retry retry = {0};
  assert_true(longest(6, 60 * NS_PER_SECOND) > 30 * NS_PER_SECOND);
  for (unsigned i = 0; i < 100; i++) assert_true(retry_next_ns(&retry) < 60 * NS_PER_SECOND);
}

static void a_success_begins_anew(void **state) {
  (void)state;
  for (unsigned i = 0; i < DRAWS; i++) {
    struct retry retry = {.failures = 9};
    retry_reset(&retry);
    assert_true(retry_next_ns(&retry) < NS_PER_SECOND);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_wait_is_random_up_to_twice_as_long_after_each_failure),
      cmocka_unit_test(a_minute_is_the_longest_however_often_it_failed),
      cmocka_unit_test(a_success_begins_anew),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
