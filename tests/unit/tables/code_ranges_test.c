/* SPDX-License-Identifier: Apache-2.0 */
#include "tables/code_ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { NEAR = CODE_RANGES_NEAR_BYTES };

static void near_ranges_become_one(void **state) {
  struct code_ranges ranges = {0};
  (void)state;
  code_ranges_add(&ranges, 0x1000, 0x2000);
  code_ranges_add(&ranges, 0x2000 + NEAR - 1, 0x3000 + NEAR);
  assert_int_equal(ranges.count, 1);
  assert_int_equal(ranges.ranges[0].low, 0x1000);
  assert_int_equal(ranges.ranges[0].high, 0x3000 + NEAR);
  code_ranges_add(&ranges, 0x1800, 0x1900);
  assert_int_equal(ranges.count, 1);
  assert_int_equal(ranges.ranges[0].high, 0x3000 + NEAR);
  code_ranges_add(&ranges, 0x5000, 0x5000);
  code_ranges_add(&ranges, 0x6000, 0x5000);
  assert_int_equal(ranges.count, 1);
}

static void far_ranges_stand_in_order(void **state) {
  struct code_ranges ranges = {0};
  (void)state;
  code_ranges_add(&ranges, 8 * NEAR, 9 * NEAR);
  code_ranges_add(&ranges, 0, 0x1000);
  code_ranges_add(&ranges, 4 * NEAR, 5 * NEAR);
  assert_int_equal(ranges.count, 3);
  for (uint32_t i = 0; i < 3; i++) assert_int_equal(ranges.ranges[i].low, 4ULL * NEAR * i);
  assert_ptr_equal(code_ranges_from(&ranges, 0), &ranges.ranges[0]);
  assert_ptr_equal(code_ranges_from(&ranges, 0x1000), &ranges.ranges[1]);
  assert_ptr_equal(code_ranges_from(&ranges, 9ULL * NEAR - 1), &ranges.ranges[2]);
  assert_null(code_ranges_from(&ranges, 9ULL * NEAR));
  code_ranges_add(&ranges, 0x800, 8ULL * NEAR);
  assert_int_equal(ranges.count, 1);
  assert_int_equal(ranges.ranges[0].high, 9ULL * NEAR);
}

static void of_too_many_the_nearest_become_one(void **state) {
  struct code_ranges ranges = {0};
  (void)state;
  for (uint64_t i = 0; i <= CODE_RANGES_MAX; i++) {
    uint64_t low = (i * 16 - (i == 5)) * NEAR;
    code_ranges_add(&ranges, low, low + 0x1000);
  }
  assert_int_equal(ranges.count, CODE_RANGES_MAX);
  assert_int_equal(ranges.ranges[4].low, 64ULL * NEAR);
  assert_int_equal(ranges.ranges[4].high, 79ULL * NEAR + 0x1000);
  assert_int_equal(ranges.ranges[CODE_RANGES_MAX - 1].low, 16ULL * NEAR * CODE_RANGES_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(near_ranges_become_one),
      cmocka_unit_test(far_ranges_stand_in_order),
      cmocka_unit_test(of_too_many_the_nearest_become_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
