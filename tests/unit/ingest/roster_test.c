/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of connections are never used twice, and there are only so many. */
#include "ingest/roster.h"

#include "proto/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct connection *fake(uintptr_t number) {
  return (struct connection *)(number * 16); /* never looked into */
}

static void an_old_number_finds_nothing_even_when_its_place_is_taken_again(void **state) {
  (void)state;
  struct roster roster = {0};
  uint64_t first = roster_add(&roster);
  roster_set(&roster, first, fake(1));
  assert_ptr_equal(roster_find(&roster, first), fake(1));
  roster_remove(&roster, first);
  assert_null(roster_find(&roster, first));
  uint64_t second = roster_add(&roster);
  roster_set(&roster, second, fake(2));
  assert_int_not_equal(first, second);
  assert_int_equal((uint32_t)first, (uint32_t)second); /* the same place */
  assert_null(roster_find(&roster, first));
  roster_remove(&roster, first); /* too late: must not affect the new one */
  roster_set(&roster, first, fake(3));
  assert_ptr_equal(roster_find(&roster, second), fake(2));
  roster_fini(&roster);
}

static void numbers_that_were_never_given_find_nothing(void **state) {
  (void)state;
  struct roster roster = {0};
  assert_null(roster_find(&roster, 0));
  assert_null(roster_find(&roster, UINT64_MAX));
  roster_add(&roster);
  assert_null(roster_find(&roster, 0));
  assert_null(roster_find(&roster, 1));
  roster_remove(&roster, 0);
  assert_int_equal(roster.count, 1);
  roster_fini(&roster);
}

static void places_are_many_but_limited_and_come_back(void **state) {
  (void)state;
  struct roster roster = {0};
  static uint64_t ids[LIMIT_CONNECTIONS];
  for (uint32_t i = 0; i < LIMIT_CONNECTIONS; i++) {
    ids[i] = roster_add(&roster);
    assert_int_not_equal(ids[i], 0);
    roster_set(&roster, ids[i], fake(i + 1));
  }
  assert_int_equal(roster_add(&roster), 0);
  for (uint32_t i = 0; i < LIMIT_CONNECTIONS; i++)
    assert_ptr_equal(roster_find(&roster, ids[i]), fake(i + 1));
  for (uint32_t i = 0; i < LIMIT_CONNECTIONS; i += 2) roster_remove(&roster, ids[i]);
  assert_int_equal(roster.count, LIMIT_CONNECTIONS / 2);
  for (uint32_t i = 0; i < LIMIT_CONNECTIONS / 2; i++) assert_int_not_equal(roster_add(&roster), 0);
  assert_int_equal(roster_add(&roster), 0);
  roster_fini(&roster);
}

static void connections_of_one_board_are_counted_and_no_others(void **state) {
  enum { BOARDS = 3000, EACH = 3 };
  (void)state;
  struct roster roster = {0};
  static uint64_t ids[BOARDS][EACH];
  char name[16];
  for (uint32_t k = 0; k < EACH; k++)
    for (uint32_t i = 0; i < BOARDS; i++) { /* it grows on the way */
      snprintf(name, sizeof name, "edge-%u", i);
      ids[i][k] = roster_add(&roster);
      assert_int_equal(roster_set_board(&roster, ids[i][k], name), k);
    }
  assert_int_equal(roster_set_board(&roster, ids[7][1], "edge-7"), 0); /* once only */
  for (uint32_t i = 0; i < BOARDS; i++) roster_remove(&roster, ids[i][i % EACH]);
  roster_remove(&roster, ids[7][7 % EACH]); /* it has already been removed */
  for (uint32_t i = 0; i < BOARDS; i++) {
    snprintf(name, sizeof name, "edge-%u", i);
    assert_int_equal(roster_set_board(&roster, roster_add(&roster), name), EACH - 1);
  }
  roster_add(&roster); /* an unknown board counts for no board's limit */
  assert_int_equal(roster_set_board(&roster, roster_add(&roster), "edge"), 0);
  assert_int_equal(roster_set_board(&roster, ids[7][7 % EACH], "edge"), 0);
  roster_fini(&roster);
}

static void connections_of_one_board_are_found_and_no_others(void **state) {
  enum { BOARDS = 500, EACH = 3 };
  (void)state;
  struct roster roster = {0};
  uint64_t first = 0;
  uint32_t at = 0;
  char name[16];
  assert_null(roster_next_of(&roster, "edge-1", &at));
  for (uint32_t i = 0; i < BOARDS * EACH; i++) {
    uint64_t id = roster_add(&roster);
    if (i == 7) first = id;
    roster_set(&roster, id, fake(i + 1));
    snprintf(name, sizeof name, "edge-%u", i % BOARDS);
    roster_set_board(&roster, id, name);
  }
  roster_remove(&roster, first);
  unsigned found = 0;
  for (struct connection *one; (one = roster_next_of(&roster, "edge-7", &at)) != NULL; found++)
    assert_true(one == fake(BOARDS + 8) || one == fake(2 * BOARDS + 8));
  assert_int_equal(found, EACH - 1);
  assert_int_equal(at, 0);
  assert_null(roster_next_of(&roster, "edge-500", &at));
  roster_fini(&roster);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_old_number_finds_nothing_even_when_its_place_is_taken_again),
      cmocka_unit_test(numbers_that_were_never_given_find_nothing),
      cmocka_unit_test(places_are_many_but_limited_and_come_back),
      cmocka_unit_test(connections_of_one_board_are_counted_and_no_others),
      cmocka_unit_test(connections_of_one_board_are_found_and_no_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
