/* SPDX-License-Identifier: Apache-2.0 */
#include "walk/table_key.h"

#include "elf/module_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { USER = 1000, OTHER = 1001, PID_MAX = 1 << 22 };

static const uint8_t id[LIMIT_MODULE_ID_BYTES] = {1, 2, 3};
static uint8_t key[LIMIT_MODULE_ID_BYTES], others[LIMIT_MODULE_ID_BYTES];

static void what_root_wrote_is_known_by_its_id_alone(void **state) {
  (void)state;
  assert_int_equal(table_key(span_of(id, 20), 0, key), 20);
  assert_memory_equal(key, id, 20);
  assert_int_equal(table_key(span_of(id, sizeof id), 0, key), sizeof id);
}

static void users_are_apart_from_root_and_each_other(void **state) {
  (void)state;
  assert_int_equal(table_key(span_of(id, 20), USER, key), 24);
  assert_int_equal(table_key(span_of(id, 20), OTHER, others), 24);
  assert_memory_equal(key, id, 20);
  assert_memory_not_equal(key, others, 24);
}

static void what_no_key_can_tell_has_none(void **state) {
  (void)state;
  assert_int_equal(table_key(span_of(id, 20), MODULE_OWNER_UNSURE, key), 0);
  assert_int_equal(table_key(span_of(id, 0), 0, key), 0);
  assert_int_equal(table_key(span_of(id, sizeof id), USER, key), 0);
}

static void for_what_anybody_wrote_answers_who_maps_it(void **state) {
  (void)state;
  assert_int_equal(table_key_owner(USER, getpid()), USER);
  assert_int_equal(table_key_owner(MODULE_OWNER_UNSURE, getpid()), getuid());
  assert_int_equal(table_key_owner(MODULE_OWNER_UNSURE, 0), MODULE_OWNER_UNSURE);
  assert_int_equal(table_key_owner(MODULE_OWNER_UNSURE, PID_MAX), MODULE_OWNER_UNSURE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_root_wrote_is_known_by_its_id_alone),
      cmocka_unit_test(users_are_apart_from_root_and_each_other),
      cmocka_unit_test(what_no_key_can_tell_has_none),
      cmocka_unit_test(for_what_anybody_wrote_answers_who_maps_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
