/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of all lengths and signs, pointers in all forms, and reads beyond the end. */
#include "tables/cfi_cursor.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define CURSOR(...)                                                                            \
  cfi_cursor_of(span_of((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__}), \
                false)

static uint64_t uleb(struct cfi_cursor cursor, bool is_over) {
  uint64_t number = cfi_uleb(&cursor);
  assert_int_equal(cursor.is_over, is_over);
  assert_int_equal(cfi_left(&cursor), 0);
  return number;
}

static int64_t sleb(struct cfi_cursor cursor, bool is_over) {
  int64_t number = cfi_sleb(&cursor);
  assert_int_equal(cursor.is_over, is_over);
  assert_int_equal(cfi_left(&cursor), 0);
  return number;
}

static void numbers_of_seven_bits_a_byte(void **state) {
  (void)state;
  assert_int_equal(uleb(CURSOR(0x7f), false), 127);
  assert_int_equal(uleb(CURSOR(0x80, 0x01), false), 128);
  assert_int_equal(uleb(CURSOR(0x85, 0x80, 0x80, 0x00), false), 5); /* padded */
  assert_true(uleb(CURSOR(255, 255, 255, 255, 255, 255, 255, 255, 255, 1), false) == UINT64_MAX);
  assert_true(uleb(CURSOR(255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1), false) ==
              UINT64_MAX);
  assert_int_equal(uleb(CURSOR(0x80), true), 0);
  assert_int_equal(sleb(CURSOR(0x3f), false), 63);
  assert_int_equal(sleb(CURSOR(0x40), false), -64);
  assert_int_equal(sleb(CURSOR(0xff, 0x7f), false), -1);
  assert_int_equal(sleb(CURSOR(0x80, 0x80, 0x40), false), -(1 << 20));
  assert_true(sleb(CURSOR(128, 128, 128, 128, 128, 128, 128, 128, 128, 0x7f), false) == INT64_MIN);
  assert_int_equal(sleb(CURSOR(0xff, 0xff), true), 0x3fff);
}

static void numbers_of_whole_bytes(void **state) {
  (void)state;
  struct cfi_cursor cursor = CURSOR(1, 2, 3, 4, 5, 6, 7, 8, 9);
  assert_int_equal(cfi_number(&cursor, 2), 0x0201);
  assert_int_equal(cfi_byte(&cursor), 3);
  assert_int_equal(cfi_number(&cursor, 4), 0x07060504);
  assert_false(cursor.is_over);
  assert_int_equal(cfi_number(&cursor, 4), 0);
  assert_true(cursor.is_over);
  assert_int_equal(cfi_byte(&cursor), 0);
  assert_int_equal(cfi_bytes(&cursor, UINT64_MAX).len, 0);
}

static uint64_t pointer(uint8_t encoding, uint8_t word_bytes, struct cfi_cursor cursor) {
  struct cfi_pointer how = {encoding, word_bytes, 0x1000, 0x20000};
  uint64_t at = 0;
  assert_true(cfi_pointer_read(&cursor, &how, &at));
  assert_false(cursor.is_over);
  return at;
}

static void pointers_in_all_forms(void **state) {
  (void)state;
  assert_int_equal(pointer(0x00, 4, CURSOR(1, 2, 3, 4)), 0x04030201);
  assert_true(pointer(0x00, 8, CURSOR(1, 2, 3, 4, 5, 6, 7, 8)) == UINT64_C(0x0807060504030201));
  assert_int_equal(pointer(0x01, 8, CURSOR(0x80, 1)), 128);
  assert_int_equal(pointer(0x19, 8, CURSOR(0x7f)), 0xfff);
  assert_int_equal(pointer(0x12, 8, CURSOR(0xff, 0xff)), 0x10fff);
  assert_int_equal(pointer(0x1a, 8, CURSOR(0xff, 0xff)), 0xfff);
  assert_int_equal(pointer(0x1b, 8, CURSOR(0xf0, 0xff, 0xff, 0xff)), 0xff0);
  assert_int_equal(pointer(0x1c, 8, CURSOR(0xf0, 255, 255, 255, 255, 255, 255, 255)), 0xff0);
  assert_int_equal(pointer(0x3b, 8, CURSOR(0x10, 0, 0, 0)), 0x20010);
}

static void narrow_pointers_wrap(void **state) {
  (void)state;
  assert_int_equal(pointer(0x1b, 4, CURSOR(0, 0xe0, 0xff, 0xff)), 0xfffff000);
  assert_int_equal(pointer(0x13, 4, CURSOR(0, 0xf8, 0xff, 0xff)), 0x800);
}

static void pointers_that_tell_no_address(void **state) {
  static const uint8_t encodings[] = {0x80, 0x9b, 0x2b, 0x4b, 0x50, 0x05, 0x0d, 0xff};
  struct cfi_pointer how = {.word_bytes = 8, .place = 0x1000, .base = 0x20000};
  uint64_t at;
  (void)state;
  for (size_t i = 0; i < sizeof encodings; i++) {
    struct cfi_cursor cursor = CURSOR(0, 0, 0, 0, 0, 0, 0, 0);
    how.encoding = encodings[i];
    assert_false(cfi_pointer_read(&cursor, &how, &at));
  }
  how.base = 0;
  how.encoding = 0x3b;
  struct cfi_cursor cursor = CURSOR(0, 0, 0, 0);
  assert_false(cfi_pointer_read(&cursor, &how, &at)); /* relative to an unknown base */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_of_seven_bits_a_byte),  cmocka_unit_test(numbers_of_whole_bytes),
      cmocka_unit_test(pointers_in_all_forms),         cmocka_unit_test(narrow_pointers_wrap),
      cmocka_unit_test(pointers_that_tell_no_address),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
