/* SPDX-License-Identifier: Apache-2.0 */
#include "targets/bin_widths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MIB = 1 << 20, BINS = 1500000 };

static uint64_t total_of(const struct bin_widths *widths) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < widths->count; i++)
    total += bin_widths_bins(widths->bin_bytes, widths->widening[i], widths->bytes[i]);
  return total;
}

static void what_fits_is_not_widened(void **state) {
  (void)state;
  struct bin_widths widths = {.bin_bytes = 16, .count = 2, .bytes = {10 * MIB, 12 * MIB}};
  bin_widths_fit(&widths, BINS);
  assert_int_equal(widths.widening[0], 0);
  assert_int_equal(widths.widening[1], 0);
}

static void a_huge_library_leaves_the_program_exact(void **state) {
  (void)state;
  struct bin_widths widths = {
      .bin_bytes = 16, .count = 4, .bytes = {MIB, 2 * MIB, 128 * MIB, 4096}};
  bin_widths_fit(&widths, BINS);
  assert_int_equal(widths.widening[0], 0);
  assert_int_equal(widths.widening[1], 0);
  assert_int_equal(widths.widening[2], 3); /* of 128 bytes: 1048576 bins, of 64 twice as many */
  assert_int_equal(widths.widening[3], 0);
  assert_true(total_of(&widths) <= BINS);
}

static void more_than_the_widest_bins_hold_ends(void **state) {
  (void)state;
  struct bin_widths widths = {
      .bin_bytes = 16, .count = 3, .bytes = {UINT64_MAX / 2, UINT64_MAX / 4, 4096}};
  bin_widths_fit(&widths, BINS);
  assert_int_equal(widths.widening[0], 8); /* 4096 bytes */
  assert_int_equal(widths.widening[1], 8);
}

static void nothing_takes_nothing(void **state) {
  (void)state;
  struct bin_widths widths = {.bin_bytes = 16};
  bin_widths_fit(&widths, 0);
  assert_int_equal(total_of(&widths), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_fits_is_not_widened),
      cmocka_unit_test(a_huge_library_leaves_the_program_exact),
      cmocka_unit_test(more_than_the_widest_bins_hold_ends),
      cmocka_unit_test(nothing_takes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
