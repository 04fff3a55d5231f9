/* SPDX-License-Identifier: Apache-2.0 */
/* Words in two halves, as on 32-bit CPUs, tested on this CPU. */
#include "ring/divide.h"
#include "ring/wide_halves.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ADDERS = 4, ADDS = 200000 };

static void set_raw(_Atomic uint64_t *word, uint64_t value) {
  memcpy((void *)word, &value, sizeof value);
}

static uint64_t raw(const _Atomic uint64_t *word) {
  uint64_t value;
  memcpy(&value, (const void *)word, sizeof value);
  return value;
}

static void the_halves_are_those_of_the_word(void **state) {
  _Atomic uint64_t word = 0;
  (void)state;
  wide_halves_store(&word, 0x1122334455667788);
  assert_true(raw(&word) == 0x1122334455667788);
  assert_true(wide_halves_load(&word) == 0x1122334455667788);
  wide_halves_clear(&word);
  assert_true(raw(&word) == 0);
}

static void a_sum_carries(void **state) {
  _Atomic uint64_t word = 0;
  (void)state;
  wide_halves_store(&word, 0x1ffffffff);
  wide_halves_add(&word, 1);
  assert_true(raw(&word) == 0x200000000);
  wide_halves_add(&word, 0x2ffffffff);
  assert_true(raw(&word) == 0x4ffffffff);
}

static _Atomic uint64_t sum;

static void *add_many(void *unused) {
  for (unsigned i = 0; i < ADDS; i++) wide_halves_add(&sum, 0x10000001);
  return unused;
}

static void of_many_adders_nothing_is_lost(void **state) {
  pthread_t threads[ADDERS];
  (void)state;
  for (unsigned i = 0; i < ADDERS; i++) pthread_create(&threads[i], NULL, add_many, NULL);
  for (unsigned i = 0; i < ADDERS; i++) pthread_join(threads[i], NULL);
  assert_true(wide_halves_load(&sum) == (uint64_t)ADDERS * ADDS * 0x10000001);
}

static void a_counter_between_its_halves_is_known_from_near(void **state) {
  _Atomic uint64_t word = 0;
  (void)state;
  set_raw(&word, 0x100000010); /* the lower half of 0x200000010 is written, the upper not yet */
  assert_true(wide_halves_near(&word, 0x1fffffff0) == 0x200000010);
  set_raw(&word, 0x1fffffff0);
  assert_true(wide_halves_near(&word, 0x200000010) == 0x1fffffff0);
}

static void who_swaps_owns_the_word(void **state) {
  const uint64_t mine = (uint64_t)7 << 32 | 8, other = (uint64_t)9 << 32 | 10;
  _Atomic uint64_t word = 0;
  (void)state;
  assert_true(wide_halves_swap(&word, 0, mine));
  assert_true(raw(&word) == mine);
  assert_false(wide_halves_swap(&word, 0, other));
  assert_false(wide_halves_swap(&word, mine + 1, other));
  assert_true(raw(&word) == mine);
  assert_true(wide_halves_swap(&word, mine, 0));
  assert_true(raw(&word) == 0);
}

static void a_word_that_is_being_swapped_is_nobodys(void **state) {
  const uint64_t half_done = (uint64_t)UINT32_MAX << 32 | 8;
  _Atomic uint64_t word = 0;
  (void)state;
  set_raw(&word, half_done);
  assert_true(wide_halves_load(&word) == 0);
  assert_false(wide_halves_swap(&word, 0, 5));
  assert_false(wide_halves_swap(&word, half_done, 5));
}

static _Atomic uint64_t claimed;
static _Atomic uint32_t winners;

static void *claim(void *own) {
  for (unsigned i = 0; i < ADDS; i++) {
    uint64_t to = (uint64_t)(uintptr_t)own << 32 | i;
    if (!wide_halves_swap(&claimed, 0, to)) continue;
    atomic_fetch_add(&winners, 1);
    assert_true(wide_halves_load(&claimed) == to);
    wide_halves_store(&claimed, 0);
  }
  return own;
}

static void of_many_who_want_it_one_has_it(void **state) {
  pthread_t threads[ADDERS];
  (void)state;
  for (uintptr_t i = 0; i < ADDERS; i++) pthread_create(&threads[i], NULL, claim, (void *)(i + 1));
  for (unsigned i = 0; i < ADDERS; i++) pthread_join(threads[i], NULL);
  assert_true(atomic_load(&winners) > 0);
  assert_true(raw(&claimed) == 0);
}

static void division_by_bits_is_division(void **state) {
  static const uint64_t words[] = {0,
                                   1,
                                   3,
                                   10,
                                   999999999,
                                   1000000000,
                                   0xffffffff,
                                   1ULL << 32,
                                   10101010,
                                   0x8000000000000000,
                                   UINT64_MAX,
                                   60000000000,
                                   0xdeadbeefcafef00d};
  const unsigned count = sizeof words / sizeof *words;
  (void)state;
  for (unsigned i = 0; i < count; i++)
    for (unsigned j = 1; j < count; j++) {
      uint64_t rest;
      assert_true(divide_by_bits(words[i], words[j], &rest) == words[i] / words[j]);
      assert_true(rest == words[i] % words[j]);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_halves_are_those_of_the_word),
      cmocka_unit_test(a_sum_carries),
      cmocka_unit_test(of_many_adders_nothing_is_lost),
      cmocka_unit_test(a_counter_between_its_halves_is_known_from_near),
      cmocka_unit_test(who_swaps_owns_the_word),
      cmocka_unit_test(a_word_that_is_being_swapped_is_nobodys),
      cmocka_unit_test(of_many_who_want_it_one_has_it),
      cmocka_unit_test(division_by_bits_is_division),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
