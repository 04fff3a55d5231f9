/* SPDX-License-Identifier: Apache-2.0 */
#include "common/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void room_doubles_and_entries_stay(void **state) {
  (void)state;
  uint64_t *numbers = NULL;
  uint32_t room = 0;
  for (uint32_t count = 0; count < 100; count++) {
    uint64_t *more = array_grow(numbers, count, &room, 3, sizeof *more);
    assert_non_null(more);
    numbers = more;
    numbers[count] = count;
  }
  assert_int_equal(room, 192);
  for (uint32_t i = 0; i < 100; i++) assert_int_equal(numbers[i], i);
  free(numbers);
}

static void an_array_with_room_stays_where_it_is(void **state) {
  (void)state;
  char array[4];
  uint32_t room = sizeof array;
  assert_ptr_equal(array_grow(array, 3, &room, 1, 1), array);
  assert_int_equal(room, sizeof array);
}

static void what_cannot_grow_is_left_as_it_was(void **state) {
  (void)state;
  char *array = malloc(1);
  uint32_t room = 1;
#ifndef __SANITIZE_ADDRESS__ /* it aborts on requests larger than the address space */
  assert_null(array_grow(array, 1, &room, 1, SIZE_MAX / 2 + 1));
  assert_int_equal(room, 1);
#endif
  room = UINT32_MAX / 2 + 1;
  assert_null(array_grow(array, room, &room, 1, 1));
  assert_int_equal(room, UINT32_MAX / 2 + 1);
  free(array);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(room_doubles_and_entries_stay),
      cmocka_unit_test(an_array_with_room_stays_where_it_is),
      cmocka_unit_test(what_cannot_grow_is_left_as_it_was),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
