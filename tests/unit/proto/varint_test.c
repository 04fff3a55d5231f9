/* SPDX-License-Identifier: Apache-2.0 */
#include "common/buf.h"
#include "proto/varint.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void every_boundary_value_comes_back(void **state) {
  (void)state;
  for (unsigned bits = 0; bits <= 64; bits++) {
    for (int64_t off = -1; off <= 1; off++) {
      uint64_t value = (bits == 64 ? 0 : UINT64_C(1) << bits) + (uint64_t)off, got = 0;
      struct buf buf = {0};
      varint_encode(&buf, value);
      unsigned significant = value ? 64 - (unsigned)__builtin_clzll(value) : 1;
      assert_int_equal(buf.len, (significant + 6) / 7);
      struct span span = buf_span(&buf);
      assert_int_equal(varint_decode(&span, &got), 0);
      assert_true(got == value);
      assert_int_equal(span.len, 0);
      assert_true(zigzag_encode(zigzag_decode(value)) == value);
      buf_fini(&buf);
    }
  }
}

static void zigzag_puts_small_distances_first(void **state) {
  (void)state;
  assert_true(zigzag_encode(0) == 0);
  assert_true(zigzag_encode(-1) == 1);
  assert_true(zigzag_encode(1) == 2);
  assert_true(zigzag_encode(INT64_MAX) == UINT64_MAX - 1);
  assert_true(zigzag_encode(INT64_MIN) == UINT64_MAX);
  assert_true(zigzag_decode(UINT64_MAX) == INT64_MIN);
}

static void only_the_number_is_taken_off(void **state) {
  (void)state;
  const uint8_t bytes[] = {0xac, 0x02, 0x7f, 0x80};
  struct span span = span_of(bytes, sizeof bytes);
  uint64_t got = 0;
  assert_int_equal(varint_decode(&span, &got), 0);
  assert_int_equal(got, 300);
  assert_int_equal(varint_decode(&span, &got), 0);
  assert_int_equal(got, 127);
  assert_int_equal(varint_decode(&span, &got), -EBADMSG); /* ends inside */
  assert_int_equal(got, 127);
  assert_int_equal(span.len, 1);
}

static void what_needs_more_than_64_bits_is_refused(void **state) {
  (void)state;
  uint8_t bytes[11] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00};
  struct span span = span_of(bytes, sizeof bytes);
  uint64_t got = 5;
  assert_int_equal(varint_decode(&span, &got), 0);
  assert_true(got == UINT64_MAX);
  got = 5;
  const uint8_t tenth[] = {0x02, 0x7f, 0x80, 0xff};
  for (size_t i = 0; i < sizeof tenth; i++) {
    bytes[9] = tenth[i];
    span = span_of(bytes, sizeof bytes);
    assert_int_equal(varint_decode(&span, &got), -EBADMSG);
    assert_int_equal(span.len, sizeof bytes);
    assert_int_equal(got, 5);
  }
  span = span_of(bytes, 0);
  assert_int_equal(varint_decode(&span, &got), -EBADMSG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_boundary_value_comes_back),
      cmocka_unit_test(zigzag_puts_small_distances_first),
      cmocka_unit_test(only_the_number_is_taken_off),
      cmocka_unit_test(what_needs_more_than_64_bits_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
