/* SPDX-License-Identifier: Apache-2.0 */
#include "common/quantity.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct quantity_unit units[] = {{"", 1}, {"K", 1024}, {"T", UINT64_C(1) << 40}};

static int parse(const char *text, uint64_t *ret) {
  return quantity_parse(text, units, sizeof units / sizeof *units, ret);
}

static void whole_numbers_and_fractions_are_exact(void **state) {
  (void)state;
  uint64_t value = 0;
  assert_int_equal(parse("0", &value), 0);
  assert_int_equal(value, 0);
  assert_int_equal(parse("18446744073709551615", &value), 0);
  assert_true(value == UINT64_MAX);
  assert_int_equal(parse("1.5K", &value), 0);
  assert_int_equal(value, 1536);
  assert_int_equal(parse("0.125K", &value), 0);
  assert_int_equal(value, 128);
  assert_int_equal(parse("16777215.999T", &value), 0);
  assert_true(value > UINT64_MAX - (UINT64_C(1) << 32));
}

static void what_does_not_fit_is_refused_and_not_clipped(void **state) {
  (void)state;
  uint64_t value = 9;
  assert_int_equal(parse("18446744073709551616", &value), -EOVERFLOW);
  assert_int_equal(parse("16777216T", &value), -EOVERFLOW);
  assert_int_equal(value, 9);
}

static void anything_else_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",   " 1",  "1 ",      "-1",  "+1", "K",   ".5",
                                    "1.", "1.K", "1.2345K", "1e3", "1k", "1KK", "0x10"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    uint64_t value = 9;
    if (parse(bad[i], &value) != -EINVAL) fail_msg("'%s' is taken", bad[i]);
    assert_int_equal(value, 9);
  }
}

static void a_rate_has_four_digits_and_no_exponent(void **state) {
  (void)state;
  char text[QUANTITY_TEXT_BYTES];
  assert_string_equal(quantity_print(10000, text), "10000");
  assert_string_equal(quantity_print(9842.4, text), "9842");
  assert_string_equal(quantity_print(99, text), "99");
  assert_string_equal(quantity_print(98.765, text), "98.77");
  assert_string_equal(quantity_print(0.1, text), "0.1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_numbers_and_fractions_are_exact),
      cmocka_unit_test(what_does_not_fit_is_refused_and_not_clipped),
      cmocka_unit_test(anything_else_is_refused),
      cmocka_unit_test(a_rate_has_four_digits_and_no_exponent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
