/* SPDX-License-Identifier: Apache-2.0 */
#include "common/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void an_all_zero_buffer_is_empty_and_usable(void **state) {
  (void)state;
  struct buf buf = {0};
  buf_append(&buf, NULL, 0);
  assert_int_equal(buf.len, 0);
  assert_string_equal(buf_text(&buf), "");
  buf_fini(&buf);
  buf_fini(&buf); /* freeing twice is fine */
}

static void appends_follow_each_other_over_many_growths(void **state) {
  (void)state;
  struct buf buf = {0};
  for (unsigned i = 0; i < 10000; i++) buf_append_byte(&buf, (uint8_t)i);
  buf_append_string(&buf, "tail");
  buf_printf(&buf, "%s-%d", "x", 42);
  assert_int_equal(buf.len, 10008);
  for (unsigned i = 0; i < 10000; i++) assert_int_equal(buf.data[i], (uint8_t)i);
  assert_string_equal(buf_text(&buf) + 10000, "tailx-42");
  assert_int_equal(buf.len, 10008); /* the NUL does not count */
  buf_fini(&buf);
}

static void text_longer_than_the_first_block_is_printed_whole(void **state) {
  (void)state;
  struct buf buf = {0};
  buf_printf(&buf, "%01000d", 7);
  assert_int_equal(buf.len, 1000);
  assert_int_equal(buf.data[999], '7');
  buf_fini(&buf);
}

static void a_failed_allocation_sticks_until_the_buffer_is_cleared(void **state) {
  (void)state;
  struct buf buf = {0};
  buf_append_string(&buf, "kept");
  assert_null(buf_reserve(&buf, SIZE_MAX));
  assert_true(buf.failed);
  buf_append_string(&buf, "lost");
  buf_append_byte(&buf, 1);
  buf_printf(&buf, "%d", 1);
  assert_null(buf_text(&buf));
  assert_int_equal(buf.len, 4);
  buf_clear(&buf);
  buf_append_string(&buf, "new");
  assert_string_equal(buf_text(&buf), "new");
  buf_fini(&buf);
}

static void nothing_is_added_beyond_a_limit(void **state) {
  (void)state;
  struct buf buf = {.limit = 1000};
  for (unsigned i = 0; i < 1000; i++) buf_append_byte(&buf, 'x');
  assert_false(buf.failed || buf.is_full);
  buf_append_byte(&buf, 'y');
  assert_true(buf.failed && buf.is_full);
  assert_int_equal(buf.len, 1000);
  buf_clear(&buf);
  buf_append_string(&buf, "new");
  assert_false(buf.failed || buf.is_full);
  assert_null(buf_reserve(&buf, SIZE_MAX));
  assert_true(buf.is_full);
  buf_fini(&buf);
}

static void reserved_room_is_there_but_not_yet_counted(void **state) {
  (void)state;
  struct buf buf = {0};
  uint8_t *room = buf_reserve(&buf, 1000);
  assert_non_null(room);
  memset(room, 0x5a, 1000);
  assert_int_equal(buf.len, 0);
  assert_true(buf.cap >= 1000);
  buf_fini(&buf);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_all_zero_buffer_is_empty_and_usable),
      cmocka_unit_test(appends_follow_each_other_over_many_growths),
      cmocka_unit_test(text_longer_than_the_first_block_is_printed_whole),
      cmocka_unit_test(a_failed_allocation_sticks_until_the_buffer_is_cleared),
      cmocka_unit_test(nothing_is_added_beyond_a_limit),
      cmocka_unit_test(reserved_room_is_there_but_not_yet_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
