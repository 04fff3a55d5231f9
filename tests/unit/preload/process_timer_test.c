/* SPDX-License-Identifier: Apache-2.0 */
/* The single interval timer of a process is shared with the program's own use of it. */
#include "preload/process_timer.h"
#include "preload/sampling.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#include <cmocka.h>

/* Long enough that none expires. */
#define PERIOD_NS 7000000000ULL
#define FIRST_NS 9000000000ULL

static const struct process_timer ours = {RING_CLOCK_PROF, PERIOD_NS};

static void set(long period_s, long first_s) {
  struct itimerval times = {{period_s, 0}, {first_s, 0}};
  assert_int_equal(setitimer(ITIMER_PROF, &times, NULL), 0);
}

static struct itimerval get(void) {
  struct itimerval times;
  assert_int_equal(getitimer(ITIMER_PROF, &times), 0);
  return times;
}

static int teardown(void **state) {
  (void)state;
  signal(SIGPROF, SIG_DFL);
  set(0, 0);
  return 0;
}

static void it_is_set_where_none_runs_and_stopped_again(void **state) {
  (void)state;
  assert_int_equal(process_timer_set(&ours, FIRST_NS, 0), 0);
  assert_int_equal(get().it_interval.tv_sec, 7);
  assert_true(get().it_value.tv_sec >= 8);
  process_timer_stop(&ours);
  assert_int_equal(get().it_value.tv_sec, 0);
  assert_int_equal(get().it_interval.tv_sec, 0);
}

static void ours_can_be_given_another_period(void **state) {
  (void)state;
  struct process_timer other = {RING_CLOCK_PROF, 2 * PERIOD_NS};
  assert_int_equal(process_timer_set(&ours, FIRST_NS, 0), 0);
  assert_int_equal(process_timer_set(&other, FIRST_NS, PERIOD_NS), 0);
  assert_int_equal(get().it_interval.tv_sec, 14);
}

static void somebody_elses_is_neither_changed_nor_stopped(void **state) {
  (void)state;
  set(5, 50);
  assert_int_equal(process_timer_set(&ours, FIRST_NS, 0), -EBUSY);
  assert_int_equal(process_timer_set(&ours, FIRST_NS, PERIOD_NS), -EBUSY);
  process_timer_stop(&ours);
  assert_int_equal(get().it_interval.tv_sec, 5);
  assert_true(get().it_value.tv_sec >= 49);
}

static void the_two_kinds_are_two_timers(void **state) {
  (void)state;
  bool is_periodic;
  struct process_timer virtual = {RING_CLOCK_VIRTUAL, PERIOD_NS};
  assert_int_equal(process_timer_set(&virtual, FIRST_NS, 0), 0);
  assert_false(process_timer_runs(RING_CLOCK_PROF, &is_periodic));
  assert_true(process_timer_runs(RING_CLOCK_VIRTUAL, &is_periodic));
  assert_true(is_periodic);
  process_timer_clear(RING_CLOCK_VIRTUAL);
  assert_false(process_timer_runs(RING_CLOCK_VIRTUAL, &is_periodic));
}

static void one_that_survived_exec_is_stopped(void **state) {
  (void)state;
  set(5, 50);
  sampling_end_inherited(RING_CLOCK_PROF);
  assert_int_equal(get().it_value.tv_sec, 0);
  assert_null(sampling_obstacle(RING_CLOCK_PROF));
}

static void a_limit_of_cpu_time_stays_and_is_an_obstacle(void **state) {
  (void)state;
  set(0, 50);
  sampling_end_inherited(RING_CLOCK_PROF);
  assert_true(get().it_value.tv_sec >= 49);
  assert_non_null(sampling_obstacle(RING_CLOCK_PROF));
}

static void a_signal_that_is_not_at_its_default_is_an_obstacle(void **state) {
  (void)state;
  set(5, 50);
  signal(SIGPROF, SIG_IGN);
  sampling_end_inherited(RING_CLOCK_PROF);
  assert_true(get().it_value.tv_sec >= 49);
  set(0, 0);
  assert_non_null(sampling_obstacle(RING_CLOCK_PROF));
  assert_null(sampling_obstacle(RING_CLOCK_VIRTUAL));
}

static void the_timer_of_threads_cares_for_its_signal_only(void **state) {
  (void)state;
  set(5, 50);
  sampling_end_inherited(RING_CLOCK_THREAD);
  assert_true(get().it_value.tv_sec >= 49);
  assert_null(sampling_obstacle(RING_CLOCK_THREAD));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(it_is_set_where_none_runs_and_stopped_again, teardown),
      cmocka_unit_test_teardown(ours_can_be_given_another_period, teardown),
      cmocka_unit_test_teardown(somebody_elses_is_neither_changed_nor_stopped, teardown),
      cmocka_unit_test_teardown(the_two_kinds_are_two_timers, teardown),
      cmocka_unit_test_teardown(one_that_survived_exec_is_stopped, teardown),
      cmocka_unit_test_teardown(a_limit_of_cpu_time_stays_and_is_an_obstacle, teardown),
      cmocka_unit_test_teardown(a_signal_that_is_not_at_its_default_is_an_obstacle, teardown),
      cmocka_unit_test_teardown(the_timer_of_threads_cares_for_its_signal_only, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
