/* SPDX-License-Identifier: Apache-2.0 */
/* A meter by itself: which allocations are counted, and which are rejected. */
#include "common/meter.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { LIMIT = 1 << 20 };

static void what_is_freed_may_be_had_again(void **state) {
  (void)state;
  meter_start(LIMIT);
  assert_true(meter_has_room(LIMIT));
  assert_false(meter_has_room(LIMIT + 1));
  meter_count(LIMIT - 100);
  assert_false(meter_has_room(METER_SMALL_BYTES));
  meter_count(-METER_SMALL_BYTES);
  assert_true(meter_has_room(METER_SMALL_BYTES));
  assert_int_equal(meter_stop(), LIMIT - 100);
  assert_false(meter_is_running());
}

static void what_is_small_is_never_refused(void **state) {
  (void)state;
  meter_start(LIMIT);
  meter_count(2 * LIMIT);
  assert_true(meter_has_room(METER_SMALL_BYTES - 1));
  assert_false(meter_has_room(METER_SMALL_BYTES));
  meter_stop();
}

static void what_was_there_before_and_is_freed_gives_room(void **state) {
  (void)state;
  meter_start(LIMIT);
  meter_count(-LIMIT);
  assert_true(meter_has_room(2 * LIMIT));
  assert_int_equal(meter_stop(), 0);
}

static void a_refusal_is_remembered(void **state) {
  (void)state;
  meter_start(LIMIT);
  assert_true(meter_has_room(LIMIT));
  assert_false(meter_was_refused());
  assert_false(meter_has_room(LIMIT + 1));
  assert_true(meter_has_room(1));
  assert_true(meter_was_refused());
  meter_stop();
  assert_true(meter_was_refused());
  meter_start(LIMIT);
  assert_false(meter_was_refused());
  meter_stop();
}

static void *look(void *ret) {
  *(bool *)ret = meter_is_running();
  return NULL;
}

static void each_thread_has_its_own(void **state) {
  (void)state;
  pthread_t thread;
  bool is_running = true;
  meter_start(LIMIT);
  assert_int_equal(pthread_create(&thread, NULL, look, &is_running), 0);
  pthread_join(thread, NULL);
  assert_false(is_running);
  meter_stop();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_freed_may_be_had_again),
      cmocka_unit_test(what_is_small_is_never_refused),
      cmocka_unit_test(what_was_there_before_and_is_freed_gives_room),
      cmocka_unit_test(a_refusal_is_remembered),
      cmocka_unit_test(each_thread_has_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
