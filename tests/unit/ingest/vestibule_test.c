/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/vestibule.h"

#include "common/clock.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW_NS (100 * NS_PER_SECOND)

static struct vestibule vestibule;
static uint64_t overdue[VESTIBULE_PLACES];

static int begin(void **state) {
  (void)state;
  memset(&vestibule, 0, sizeof vestibule);
  return 0;
}

static bool add(uint64_t id, const char *address, uint64_t now_ns) {
  struct sockaddr_in in = {.sin_family = AF_INET};
  struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
  if (inet_pton(AF_INET, address, &in.sin_addr) == 1)
    return vestibule_add(&vestibule, id, (const struct sockaddr *)&in, now_ns);
  assert_int_equal(inet_pton(AF_INET6, address, &in6.sin6_addr), 1);
  return vestibule_add(&vestibule, id, (const struct sockaddr *)&in6, now_ns);
}

static void one_address_has_only_so_many_places(void **state) {
  (void)state;
  vestibule.per_address = 3;
  for (uint64_t id = 1; id <= 3; id++) assert_true(add(id, "192.0.2.1", NOW_NS));
  assert_false(add(4, "192.0.2.1", NOW_NS));
  assert_false(add(4, "::ffff:192.0.2.1", NOW_NS));
  assert_true(add(4, "192.0.2.2", NOW_NS));
  vestibule_remove(&vestibule, 2);
  assert_true(add(5, "192.0.2.1", NOW_NS));
}

static void half_an_address_of_the_sixth_version_is_one(void **state) {
  (void)state;
  vestibule.per_address = 2;
  assert_true(add(1, "2001:db8:1:2::1", NOW_NS));
  assert_true(add(2, "2001:db8:1:2:ffff::7", NOW_NS));
  assert_false(add(3, "2001:db8:1:2:abcd::9", NOW_NS));
  assert_true(add(3, "2001:db8:1:3::1", NOW_NS));
}

static void there_are_only_so_many_places_in_all(void **state) {
  (void)state;
  for (uint64_t id = 1; id <= VESTIBULE_PLACES; id++) assert_true(add(id, "192.0.2.1", NOW_NS));
  assert_true(vestibule_is_full(&vestibule));
  assert_false(add(5000, "192.0.2.2", NOW_NS));
  vestibule_remove(&vestibule, 77);
  assert_false(vestibule_is_full(&vestibule));
  vestibule_remove(&vestibule, 77); /* already removed */
  assert_true(add(5000, "192.0.2.2", NOW_NS));
}

static void half_open_connections_are_evicted_when_no_place_is_left(void **state) {
  (void)state;
  for (uint64_t id = 1; id <= 10; id++) add(id, "192.0.2.1", NOW_NS);
  assert_int_equal(vestibule_overdue(&vestibule, NOW_NS + 60 * NS_PER_SECOND, overdue), 0);
  for (uint64_t id = 11; id <= VESTIBULE_PLACES; id++)
    add(id, "192.0.2.1", NOW_NS + 2 * NS_PER_SECOND);
  assert_int_equal(vestibule_overdue(&vestibule, NOW_NS + 3 * NS_PER_SECOND - 1, overdue), 0);
  assert_int_equal(vestibule_overdue(&vestibule, NOW_NS + 3 * NS_PER_SECOND, overdue), 10);
  assert_int_equal(overdue[0], 1);
  assert_int_equal(overdue[9], 10);
}

static void half_open_connections_are_evicted_for_their_own_address(void **state) {
  (void)state;
  vestibule.per_address = 4;
  add(1, "192.0.2.9", NOW_NS);
  for (uint64_t id = 2; id <= 4; id++) add(id, "192.0.2.1", NOW_NS);
  assert_int_equal(vestibule_overdue(&vestibule, NOW_NS + 60 * NS_PER_SECOND, overdue), 0);
  add(5, "192.0.2.1", NOW_NS + NS_PER_SECOND);
  assert_int_equal(vestibule_overdue(&vestibule, NOW_NS + 3 * NS_PER_SECOND - 1, overdue), 0);
  assert_int_equal(vestibule_overdue(&vestibule, NOW_NS + 3 * NS_PER_SECOND, overdue), 3);
  assert_int_equal(overdue[0], 2); /* not the one from another address */
  assert_int_equal(overdue[2], 4);
}

static void of_many_addresses_only_those_at_their_limit_are_evicted(void **state) {
  static const unsigned residues[] = {0, 1, 2, 4, 8}; /* of 16: the others are apart */
  uint64_t wanted[VESTIBULE_PLACES];
  unsigned count = 0;
  char address[32];
  (void)state;
  vestibule.per_address = 60;
  for (unsigned id = 1; id < VESTIBULE_PLACES; id++) {
    bool is_one = false;
    for (unsigned i = 0; i < 5; i++) is_one |= id % 16 == residues[i];
    snprintf(address, sizeof address, "192.%u.%u.%u", is_one, is_one ? 0 : id / 200,
             is_one ? id % 16 : id % 200);
    if (add(id, address, NOW_NS) && is_one) wanted[count++] = id;
  }
  assert_false(vestibule_is_full(&vestibule));
  assert_int_equal(vestibule_overdue(&vestibule, NOW_NS + 3 * NS_PER_SECOND, overdue), count);
  assert_memory_equal(overdue, wanted, count * sizeof *wanted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(one_address_has_only_so_many_places, begin),
      cmocka_unit_test_setup(half_an_address_of_the_sixth_version_is_one, begin),
      cmocka_unit_test_setup(there_are_only_so_many_places_in_all, begin),
      cmocka_unit_test_setup(half_open_connections_are_evicted_when_no_place_is_left, begin),
      cmocka_unit_test_setup(half_open_connections_are_evicted_for_their_own_address, begin),
      cmocka_unit_test_setup(of_many_addresses_only_those_at_their_limit_are_evicted, begin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
