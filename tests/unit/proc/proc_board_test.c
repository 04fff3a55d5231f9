/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/proc_board.h"
#include "proc/proc_stat.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int parse(const char *text, struct proc_board *ret) {
  return proc_board_parse(span_of_string(text), ret);
}

static void busy_is_all_but_idle_and_stolen_is_in_it(void **state) {
  (void)state;
  struct proc_board board;
  assert_int_equal(parse("cpu  1 2 4 1000 1000 8 16 32 5 5\ncpu0 9 9 9 9\n", &board), 0);
  assert_int_equal(board.stolen_ns, proc_ticks_to_ns(32));
  assert_int_equal(board.busy_ns, proc_ticks_to_ns(63));
  assert_int_equal(board.interrupt_ns, proc_ticks_to_ns(24));
}

/* Accounting by tick: softirq time is then part of the processes' billed time. */
static void a_kernel_that_never_meets_an_interrupt_does_not_measure_them(void **state) {
  (void)state;
  struct proc_board board;
  assert_int_equal(parse("cpu 1 2 4 1000 1000 0 16 32", &board), 0);
  assert_int_equal(board.interrupt_ns, 0);
}

static void an_old_kernel_steals_nothing(void **state) {
  (void)state;
  struct proc_board board;
  assert_int_equal(parse("cpu 1 2 4 1000\ncpu0 9 9 9 9", &board), 0);
  assert_int_equal(board.stolen_ns, 0);
  assert_int_equal(board.busy_ns, proc_ticks_to_ns(7));
}

static void another_text_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "", "cpu", "cpu ", "cpu 1 2 3", "cpu0 1 2 3 4", "cpu 1 2 x 4", "intr 1 2 3 4 5"};
  struct proc_board board;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_int_equal(parse(texts[i], &board), -EBADMSG);
}

static void this_machine_has_been_busy(void **state) {
  (void)state;
  struct proc_board board;
  assert_int_equal(proc_board_read(&board), 0);
  assert_true(board.busy_ns > board.stolen_ns);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(busy_is_all_but_idle_and_stolen_is_in_it),
      cmocka_unit_test(a_kernel_that_never_meets_an_interrupt_does_not_measure_them),
      cmocka_unit_test(an_old_kernel_steals_nothing),
      cmocka_unit_test(another_text_is_refused),
      cmocka_unit_test(this_machine_has_been_busy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
