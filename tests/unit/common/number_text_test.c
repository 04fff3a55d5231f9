/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text agree with printf and strtoull. */
#include "common/buf.h"
#include "common/number_text.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void check(uint64_t value) {
  char wanted[64];
  struct buf text = {0};
  uint64_t read = ~value;
  number_text_decimal(value, &text);
  buf_append_byte(&text, ' ');
  number_text_hex(value, &text);
  snprintf(wanted, sizeof wanted, "%" PRIu64 " %" PRIx64, value, value);
  assert_string_equal(buf_text(&text), wanted);
  snprintf(wanted, sizeof wanted, "%" PRIX64, value);
  assert_true(number_text_parse_hex(span_of_string(wanted), &read));
  assert_true(read == value);
  buf_fini(&text);
}

static void every_length_of_number_is_written_and_read(void **state) {
  (void)state;
  for (uint64_t value = 0; value < 1200; value++) check(value);
  for (uint64_t power = 1; power < UINT64_MAX / 10; power *= 10)
    for (int beside = -1; beside <= 1; beside++) check(power * 10 + (uint64_t)beside);
  for (unsigned bit = 0; bit < 64; bit++)
    for (int beside = -1; beside <= 1; beside++) check(((uint64_t)1 << bit) + (uint64_t)beside);
  check(UINT64_MAX);
}

static void only_digits_are_a_number(void **state) {
  uint64_t value = 7;
  (void)state;
  for (unsigned c = 0; c < 256; c++) {
    const uint8_t text[] = {'1', (uint8_t)c, '2'};
    bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    assert_int_equal(number_text_parse_hex(span_of(text, sizeof text), &value), is_digit);
  }
  value = 7;
  assert_false(number_text_parse_hex(span_of("", 0), &value));
  assert_false(number_text_parse_hex(span_of_string("00000000000000001"), &value));
  assert_int_equal(value, 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_length_of_number_is_written_and_read),
      cmocka_unit_test(only_digits_are_a_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
