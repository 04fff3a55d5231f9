/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

#include "symbol/eh_frame.h"

enum { ADDRESS = 0x5000 };

/* A CIE `zPLR` whose pointers are pcrel sdata4, an FDE at 0x1000 of 0x20 bytes, an end. */
static const uint8_t little[] = {
    0x18, 0,    0,    0,    0,    0, 0, 0, 1,    'z', 'P', 'L', 'R', 0, 1, 0x78,
    0x10, 7,    0x1b, 1,    2,    3, 4, 0, 0x1b, 0,   0,   0, /* padding */
    0x10, 0,    0,    0,    0x20, 0, 0, 0,                    /* id: 0x20 back from 0x20 */
    0xdc, 0xbf, 0xff, 0xff, 0x20, 0, 0, 0, 0,    0,   0,   0,   0,   0, 0, 0,
};

static struct eh_frame walk_of(const uint8_t *bytes, size_t len) {
  return (struct eh_frame){.bytes = span_of(bytes, len), .address = ADDRESS, .word_bytes = 8};
}

static void a_function_is_found_relative_to_its_entry(void **state) {
  (void)state;
  struct eh_frame frames = walk_of(little, sizeof little);
  struct eh_frame_range range;
  assert_true(eh_frame_next(&frames, &range));
  assert_int_equal(range.start, 0x1000);
  assert_int_equal(range.size, 0x20);
  assert_false(eh_frame_next(&frames, &range));
}

static void a_section_cut_anywhere_gives_the_same_or_nothing(void **state) {
  (void)state;
  for (size_t len = 0; len < sizeof little; len++) {
    uint8_t *copy = malloc(len + 1);
    assert_non_null(copy);
    memcpy(copy, little, len);
    struct eh_frame frames = walk_of(copy, len);
    struct eh_frame_range range = {0};
    bool is_whole = len >= sizeof little - 4;
    assert_int_equal(eh_frame_next(&frames, &range), is_whole);
    assert_int_equal(range.start, is_whole ? 0x1000 : 0);
    free(copy);
  }
}

/* The section with byte AT changed to VALUE yields no function. */
static void expect_nothing(size_t at, uint8_t value) {
  uint8_t bytes[sizeof little];
  memcpy(bytes, little, sizeof little);
  bytes[at] = value;
  struct eh_frame frames = walk_of(bytes, sizeof bytes);
  struct eh_frame_range range;
  if (eh_frame_next(&frames, &range)) fail_msg("byte %zu as %u", at, value);
}

static void entries_that_no_linker_writes_are_passed_over(void **state) {
  (void)state;
  expect_nothing(8, 2);     /* a version that never was */
  expect_nothing(9, 'y');   /* an augmentation without its length */
  expect_nothing(12, 'Q');  /* an unknown letter */
  expect_nothing(24, 0x3b); /* relative to data */
  expect_nothing(24, 0x9b); /* through a pointer */
  expect_nothing(24, 0x11); /* LEB128 */
  expect_nothing(32, 0x7f); /* its CIE is outside */
  expect_nothing(40, 0);    /* no byte long */
}

static void the_same_is_read_in_the_other_byte_order_and_class(void **state) {
  (void)state;
  static const uint8_t big[] = {
      0, 0, 0, 0x0c, 0, 0, 0, 0,    1, 0, 4,    0x7c, 31, 0, 0, 0, /* absolute */
      0, 0, 0, 0x0c, 0, 0, 0, 0x14, 0, 0, 0x10, 0,    0,  0, 0, 0x30,
  };
  struct eh_frame frames = walk_of(big, sizeof big);
  struct eh_frame_range range;
  frames.word_bytes = 4;
  frames.is_big_endian = true;
  assert_true(eh_frame_next(&frames, &range));
  assert_int_equal(range.start, 0x1000);
  assert_int_equal(range.size, 0x30);
  assert_false(eh_frame_next(&frames, &range));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_function_is_found_relative_to_its_entry),
      cmocka_unit_test(a_section_cut_anywhere_gives_the_same_or_nothing),
      cmocka_unit_test(entries_that_no_linker_writes_are_passed_over),
      cmocka_unit_test(the_same_is_read_in_the_other_byte_order_and_class),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
