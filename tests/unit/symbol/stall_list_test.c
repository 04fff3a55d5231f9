/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

#include "symbol/stall_list.h"

static struct span key_of(uint32_t number, uint8_t bytes[STALL_LIST_KEY_BYTES]) {
  memset(bytes, 0, STALL_LIST_KEY_BYTES);
  memcpy(bytes, &number, sizeof number);
  return span_of(bytes, STALL_LIST_KEY_BYTES);
}

static void a_file_has_three_tries(void **state) {
  (void)state;
  struct stall_list list = {.next = 0};
  uint8_t one[STALL_LIST_KEY_BYTES], other[STALL_LIST_KEY_BYTES];
  for (int i = 0; i < STALL_LIST_TRIES_MAX; i++) {
    assert_false(stall_list_is_hopeless(&list, key_of(1, one)));
    stall_list_add(&list, key_of(1, one));
    stall_list_add(&list, key_of((uint32_t)i + 2, other));
  }
  assert_true(stall_list_is_hopeless(&list, key_of(1, one)));
  assert_false(stall_list_is_hopeless(&list, key_of(2, other)));
}

static void the_first_of_many_makes_room(void **state) {
  (void)state;
  struct stall_list list = {.next = 0};
  uint8_t bytes[STALL_LIST_KEY_BYTES];
  for (uint32_t file = 0; file <= STALL_LIST_FILES_MAX; file++)
    for (int i = 0; i < STALL_LIST_TRIES_MAX; i++) stall_list_add(&list, key_of(file, bytes));
  assert_false(stall_list_is_hopeless(&list, key_of(0, bytes)));
  assert_true(stall_list_is_hopeless(&list, key_of(1, bytes)));
  assert_true(stall_list_is_hopeless(&list, key_of(STALL_LIST_FILES_MAX, bytes)));
}

static void what_has_no_key_is_not_remembered(void **state) {
  (void)state;
  struct stall_list list = {.next = 0};
  for (int i = 0; i < 2 * STALL_LIST_TRIES_MAX; i++) stall_list_add(&list, span_of(NULL, 0));
  assert_false(stall_list_is_hopeless(&list, span_of(NULL, 0)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_has_three_tries),
      cmocka_unit_test(the_first_of_many_makes_room),
      cmocka_unit_test(what_has_no_key_is_not_remembered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
