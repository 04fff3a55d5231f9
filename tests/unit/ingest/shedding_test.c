/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/shedding.h"

#include "ingest/memory_use.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct shedding made(void) {
  return (struct shedding){.limit = {1000, 1000, 1000, 1000}};
}

static void each_limit_is_told_by_its_name_and_ends_at_three_quarters(void **state) {
  (void)state;
  struct shedding shedding = made();
  uint64_t *const figures[] = {&shedding.now.queue_entries, &shedding.now.queue_bytes,
                               &shedding.now.backlog_bytes, &shedding.now.memory_bytes};
  static const enum shed sheds[] = {SHED_QUEUE, SHED_QUEUE, SHED_BACKLOG, SHED_MEMORY};
  for (unsigned i = 0; i < 4; i++) {
    *figures[i] = 1000;
    assert_false(shedding_look(&shedding, 1));
    *figures[i] = 1001;
    assert_true(shedding_look(&shedding, 2));
    assert_int_equal(shedding.shed, sheds[i]);
    *figures[i] = 751;
    assert_false(shedding_look(&shedding, 3));
    assert_int_equal(shedding.shed, sheds[i]);
    *figures[i] = 750;
    assert_true(shedding_look(&shedding, 4));
    assert_int_equal(shedding.shed, SHED_NOTHING);
  }
  assert_string_equal(shedding_name(SHED_BACKLOG), "backlog");
}

static void the_worst_is_told_and_what_is_left_goes_on(void **state) {
  (void)state;
  struct shedding shedding = made();
  shedding.now = (struct load){2000, 0, 2000, 2000};
  shedding_look(&shedding, 1);
  assert_int_equal(shedding.shed, SHED_MEMORY);
  shedding.now.memory_bytes = 0;
  shedding_look(&shedding, 2);
  assert_int_equal(shedding.shed, SHED_BACKLOG);
}

static void the_longer_it_lasts_the_more_patience_is_asked(void **state) {
  (void)state;
  struct shedding shedding = made();
  shedding.now.backlog_bytes = 1001;
  shedding_look(&shedding, 100 * NS_PER_SECOND);
  assert_int_equal(shedding.retry_after_ms, 5000);
  shedding_look(&shedding, 112 * NS_PER_SECOND);
  assert_int_equal(shedding.retry_after_ms, 12000);
  shedding.now.backlog_bytes = 0;
  shedding_look(&shedding, 113 * NS_PER_SECOND);
  shedding.now.backlog_bytes = 1001;
  shedding_look(&shedding, 114 * NS_PER_SECOND);
  assert_int_equal(shedding.retry_after_ms, 5000);
}

static void without_a_limit_nothing_is_over_it(void **state) {
  (void)state;
  struct shedding shedding = {.limit = {0}};
  shedding.now = (struct load){UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
  assert_false(shedding_look(&shedding, 1));
  assert_int_equal(shedding_limits(0).memory_bytes, 0);
  assert_true(shedding_limits(7).queue_entries > 0);
}

static void memory_of_our_own_is_seen_and_less_than_allowed(void **state) {
  (void)state;
  enum { BYTES = 64 << 20 };
  uint64_t before = memory_use_bytes();
  char *bytes = malloc(BYTES);
  assert_non_null(bytes);
  memset(bytes, 1, BYTES);
  uint64_t after = memory_use_bytes();
  free(bytes);
  assert_true(before > 0);
  assert_in_range(after, before + BYTES / 2, before + 2 * (uint64_t)BYTES);
  assert_true(memory_use_allowed() > after);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_limit_is_told_by_its_name_and_ends_at_three_quarters),
      cmocka_unit_test(the_worst_is_told_and_what_is_left_goes_on),
      cmocka_unit_test(the_longer_it_lasts_the_more_patience_is_asked),
      cmocka_unit_test(without_a_limit_nothing_is_over_it),
      cmocka_unit_test(memory_of_our_own_is_seen_and_less_than_allowed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
