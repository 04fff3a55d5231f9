/* SPDX-License-Identifier: Apache-2.0 */
/* Two digits a byte, as many as fit. */
#include "common/hex_text.h"

#include "common/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void each_byte_is_two_digits(void **state) {
  (void)state;
  uint8_t bytes[256];
  char text[2 * sizeof bytes + 1], expected[3];
  struct buf buf = {0};
  for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)i;
  assert_int_equal(hex_text_print(span_of(bytes, sizeof bytes), text, sizeof text), 512);
  assert_int_equal(strlen(text), 512);
  for (unsigned i = 0; i < sizeof bytes; i++) {
    snprintf(expected, sizeof expected, "%02x", i);
    assert_memory_equal(text + 2 * i, expected, 2);
  }
  buf_append_string(&buf, "id=");
  hex_text_append(span_of(bytes + 0xfe, 2), &buf);
  hex_text_append(span_of(NULL, 0), &buf);
  assert_string_equal(buf_text(&buf), "id=feff");
  buf_fini(&buf);
}

static void what_has_no_room_is_left_out_whole(void **state) {
  (void)state;
  static const char *const expected[] = {"", "", "ab", "ab", "abcd", "abcd"};
  for (size_t room = 1; room <= 6; room++) {
    char text[8] = "xxxxxxx";
    size_t len = hex_text_print(span_of("\xab\xcd", 2), text, room);
    assert_string_equal(text, expected[room - 1]);
    assert_int_equal(len, strlen(text));
    for (size_t i = room; i < 7; i++) assert_int_equal(text[i], 'x');
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_byte_is_two_digits),
      cmocka_unit_test(what_has_no_room_is_left_out_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
