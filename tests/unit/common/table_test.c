/* SPDX-License-Identifier: Apache-2.0 */
#include "common/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void an_empty_table_finds_nothing(void **state) {
  (void)state;
  struct table table = {0};
  uint32_t cursor = 77;
  assert_int_equal(table_find(&table, 1, &cursor), TABLE_NONE);
  assert_int_equal(table_next(&table, 1, &cursor), TABLE_NONE);
  table_clear(&table);
  table_fini(&table);
}

static void every_key_is_found_after_many_growths(void **state) {
  (void)state;
  struct table table = {0};
  uint32_t cursor;
  const uint32_t count = 100000;
  for (uint32_t i = 0; i < count; i++) assert_int_equal(table_add(&table, (uint64_t)i << 12, i), 0);
  assert_int_equal(table.count, count);
  for (uint32_t i = 0; i < count; i++)
    assert_int_equal(table_find(&table, (uint64_t)i << 12, &cursor), i);
  assert_int_equal(table_find(&table, 1, &cursor), TABLE_NONE);
  table_fini(&table);
}

static void equal_keys_are_yielded_one_after_the_other(void **state) {
  (void)state;
  struct table table = {0};
  const uint64_t keys[] = {0, UINT64_MAX, 42};
  for (uint32_t i = 0; i < 30; i++) assert_int_equal(table_add(&table, keys[i % 3], i), 0);
  for (unsigned k = 0; k < 3; k++) {
    uint32_t cursor, seen = 0;
    for (uint32_t at = table_find(&table, keys[k], &cursor); at != TABLE_NONE;
         at = table_next(&table, keys[k], &cursor)) {
      assert_int_equal(at % 3, k);
      assert_int_equal(seen & (1U << (at / 3)), 0);
      seen |= 1U << (at / 3);
    }
    assert_int_equal(seen, (1U << 10) - 1);
  }
  table_fini(&table);
}

static void a_cleared_table_keeps_its_room_but_no_entry(void **state) {
  (void)state;
  struct table table = {0};
  uint32_t cursor;
  for (uint32_t i = 0; i < 1000; i++) assert_int_equal(table_add(&table, i, i), 0);
  uint32_t cap = table.cap;
  table_clear(&table);
  assert_int_equal(table.cap, cap);
  assert_int_equal(table.count, 0);
  for (uint32_t i = 0; i < 1000; i++) assert_int_equal(table_find(&table, i, &cursor), TABLE_NONE);
  assert_int_equal(table_add(&table, 5, 50), 0);
  assert_int_equal(table_find(&table, 5, &cursor), 50);
  table_fini(&table);
}

static void the_hash_depends_on_every_byte_the_length_and_the_seed(void **state) {
  (void)state;
  uint8_t bytes[40] = {0};
  for (size_t len = 0; len < sizeof bytes; len++) {
    uint64_t hash = table_hash(bytes, len, 1);
    assert_true(hash != table_hash(bytes, len + 1, 1));
    assert_true(hash != table_hash(bytes, len, 2));
    for (size_t at = 0; at < len; at++) {
      bytes[at] = 1;
      assert_true(hash != table_hash(bytes, len, 1));
      bytes[at] = 0;
    }
  }
}

static void the_hash_is_the_same_on_every_machine(void **state) {
  (void)state;
  assert_true(table_hash("", 0, 0) == 0);
  assert_true(table_hash("fleetprof!", 10, 7) == UINT64_C(0xfa914ec115227798));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_table_finds_nothing),
      cmocka_unit_test(every_key_is_found_after_many_growths),
      cmocka_unit_test(equal_keys_are_yielded_one_after_the_other),
      cmocka_unit_test(a_cleared_table_keeps_its_room_but_no_entry),
      cmocka_unit_test(the_hash_depends_on_every_byte_the_length_and_the_seed),
      cmocka_unit_test(the_hash_is_the_same_on_every_machine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
