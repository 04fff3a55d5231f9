/* SPDX-License-Identifier: Apache-2.0 */
#include "quota/sketch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t hash_of(uint64_t number) {
  uint64_t x = number * 0x9e3779b97f4a7c15ULL;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

static void different_things_are_counted_within_a_seventh(void **state) {
  (void)state;
  static const uint64_t counts[] = {0, 1, 2, 10, 100, 1000, 2000, 10000, 100000, 1000000};
  for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
    struct sketch sketch = {{0}};
    for (uint64_t n = 0; n < counts[i]; n++) sketch_add(&sketch, hash_of(n + i * 10000000));
    uint64_t slack = counts[i] / 7; /* three standard errors */
    assert_in_range(sketch_estimate(&sketch), counts[i] - slack, counts[i] + slack);
  }
}

static void what_was_there_before_changes_nothing(void **state) {
  (void)state;
  struct sketch sketch = {{0}};
  for (uint64_t n = 0; n < 5000; n++) sketch_add(&sketch, hash_of(n));
  uint64_t before = sketch_estimate(&sketch);
  for (uint64_t n = 0; n < 5000; n++) assert_false(sketch_add(&sketch, hash_of(n)));
  assert_int_equal(sketch_estimate(&sketch), before);
}

static void many_new_things_are_always_noticed(void **state) {
  (void)state;
  struct sketch sketch = {{0}};
  bool is_more = false;
  for (uint64_t n = 0; n < 500000; n++) sketch_add(&sketch, hash_of(n));
  for (uint64_t n = 0; n < 50000; n++) is_more |= sketch_add(&sketch, hash_of(1000000 + n));
  assert_true(is_more);
}

static void every_hash_has_a_cell(void **state) {
  (void)state;
  struct sketch sketch = {{0}};
  assert_true(sketch_add(&sketch, 0));
  assert_true(sketch_add(&sketch, UINT64_MAX));
  assert_int_equal(sketch_estimate(&sketch), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(different_things_are_counted_within_a_seventh),
      cmocka_unit_test(what_was_there_before_changes_nothing),
      cmocka_unit_test(many_new_things_are_always_noticed),
      cmocka_unit_test(every_hash_has_a_cell),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
