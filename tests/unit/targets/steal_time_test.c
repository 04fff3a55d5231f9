/* SPDX-License-Identifier: Apache-2.0 */
/* Time that events count but the kernel bills to no process, with clocks that the test sets. */
#include "targets/residual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* The board lost 100 of 1000 ms of busy time, all of them in the target. */
static const struct steal_look one_tenth = {
    .counted_ns = 1000 * MS,
    .billed_ns = 900 * MS,
    .board = {.busy_ns = 1000 * MS, .stolen_ns = 100 * MS},
};

static void what_is_counted_and_not_billed_is_stolen(void **state) {
  (void)state;
  struct steal_time steal = {0};
  steal_time_look(&steal, &one_tenth);
  assert_int_equal(steal.stolen_ns, 100 * MS);
  assert_int_equal(steal_time_unproved_ns(&steal), 0);
}

static void a_clock_that_is_read_late_invents_no_stolen_time(void **state) {
  (void)state;
  struct steal_time steal = {0};
  struct steal_look look = one_tenth;
  look.billed_ns = 1040 * MS; /* 140 ms after the events */
  steal_time_look(&steal, &look);
  assert_int_equal(steal.stolen_ns, 0);
  look.counted_ns = 2000 * MS; /* the next look is in time */
  look.billed_ns = 1900 * MS;
  steal_time_look(&steal, &look);
  assert_int_equal(steal.stolen_ns, 100 * MS);
}

/* Its time is then known by its events alone, as if nothing had been stolen from it. */
static void a_process_that_ends_between_two_looks_takes_nothing_back(void **state) {
  (void)state;
  struct steal_time steal = {0};
  struct steal_look look = one_tenth;
  steal_time_look(&steal, &look);
  look.counted_ns = 1500 * MS;
  look.billed_ns = 1450 * MS;
  steal_time_look(&steal, &look);
  assert_int_equal(steal.stolen_ns, 100 * MS);
}

static void a_bill_without_all_processes_proves_nothing(void **state) {
  (void)state;
  struct steal_time steal = {0};
  struct steal_look look = one_tenth;
  look.is_partial = true;
  steal_time_look(&steal, &look);
  assert_int_equal(steal.stolen_ns, 0);
  assert_int_equal(steal_time_unproved_ns(&steal), 100 * MS);
}

static void a_board_that_lost_nothing_has_no_stolen_time(void **state) {
  (void)state;
  struct steal_time steal = {0};
  struct steal_look look = one_tenth;
  look.board.stolen_ns = 0;
  look.billed_ns = 100 * MS; /* a process is missing, and it was not noticed */
  steal_time_look(&steal, &look);
  assert_int_equal(steal.stolen_ns, 0);
}

static void a_target_loses_at_most_twice_its_part_of_the_boards_loss(void **state) {
  (void)state;
  struct steal_time steal = {0};
  struct steal_look look = one_tenth;
  look.board.busy_ns = 4000 * MS;
  look.billed_ns = 100 * MS;
  steal_time_look(&steal, &look);
  assert_int_equal(steal.likely_ns, 25 * MS);
  assert_int_equal(steal.stolen_ns, 50 * MS);
  look.board = (struct proc_board){0}; /* cannot be read any more */
  look.counted_ns = 2000 * MS;
  steal_time_look(&steal, &look);
  assert_int_equal(steal.stolen_ns, 50 * MS);
}

static void time_that_interrupts_took_is_no_processs_either(void **state) {
  (void)state;
  struct steal_time steal = {0};
  struct steal_look look = one_tenth;
  look.board.stolen_ns = 0;
  look.board.interrupt_ns = 100 * MS;
  steal_time_look(&steal, &look);
  assert_int_equal(steal.stolen_ns, 100 * MS);
}

static void what_was_before_the_account_is_not_in_it(void **state) {
  (void)state;
  struct steal_time steal = {.has_no_base = true};
  struct steal_look look = one_tenth;
  steal_time_look(&steal, &look);
  assert_int_equal(steal.stolen_ns, 0);
  look.counted_ns = 2000 * MS;
  look.billed_ns = 1870 * MS;
  look.board = (struct proc_board){.busy_ns = 2000 * MS, .stolen_ns = 130 * MS};
  steal_time_look(&steal, &look);
  assert_int_equal(steal.stolen_ns, 30 * MS);
}

static uint64_t pay(struct steal_time *steal, uint64_t weight, uint64_t over, uint64_t part) {
  return steal_time_pay(
      steal, &(struct steal_sample){.weight_ns = weight, .over_ns = over, .part_ns = part});
}

static void samples_pay_in_parts_and_keep_one(void **state) {
  (void)state;
  struct steal_time steal = {.stolen_ns = 100};
  assert_int_equal(pay(&steal, 40, 60, 10), 10);
  assert_int_equal(pay(&steal, 10, 30, 10), 10);
  assert_int_equal(pay(&steal, 25, 30, 10), 15);
  assert_int_equal(pay(&steal, 40, 30, 0), 40);
  assert_int_equal(pay(&steal, 40, 20, 25), 40); /* a part is more than is owed */
  assert_int_equal(pay(&steal, 40, 20, 10), 20);
  assert_int_equal(pay(&steal, 40, 0, 10), 40);
  assert_int_equal(steal.paid_ns, 60);
  assert_int_equal(pay(&steal, 1000, 1000, 10), 960); /* no more than was stolen */
  assert_int_equal(pay(&steal, 1000, 1000, 10), 1000);
}

static void the_total_is_the_bill(void **state) {
  (void)state;
  struct residual residual = {.sampled_ns = 700 * MS, .kernel_ns = 200 * MS};
  struct residual_step step;
  residual_count(&residual, one_tenth.counted_ns);
  assert_int_equal(residual_own_ns(&residual), 1000 * MS);
  residual_look(&residual, &one_tenth);
  assert_int_equal(residual_own_ns(&residual), 900 * MS);
  assert_int_equal(residual_pay(&residual, 0, 1), 0);
  assert_int_equal(residual.steal.paid_ns, 0); /* no sample stood for it */
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns, 200 * MS);
  assert_int_equal(step.rest_ns, 0);
  residual_hear(&residual, 905 * MS); /* a parent received more */
  assert_int_equal(residual_own_ns(&residual), 905 * MS);
}

static void samples_since_the_last_look_pay_in_advance(void **state) {
  (void)state;
  struct residual residual = {.sampled_ns = 900 * MS};
  residual_count(&residual, one_tenth.counted_ns);
  residual_look(&residual, &one_tenth);
  assert_int_equal(steal_time_expected_ns(&residual.steal, 1200 * MS), 20 * MS);
  residual_count(&residual, 1200 * MS);
  residual.sampled_ns = 1100 * MS; /* all billed time, if nothing was stolen since */
  assert_int_equal(residual_pay(&residual, 100 * MS, 10 * MS), 10 * MS);
  assert_int_equal(residual.steal.paid_ns, 90 * MS);
  assert_int_equal(residual_pay(&residual, 100 * MS, 10 * MS), 70 * MS);
  assert_int_equal(residual_pay(&residual, 100 * MS, 10 * MS), 100 * MS);
}

static void later_samples_pay_for_what_was_shown_beyond_the_bill(void **state) {
  (void)state;
  struct residual residual = {.sampled_ns = 690 * MS, .kernel_ns = 180 * MS};
  residual_count(&residual, one_tenth.counted_ns);
  residual_look(&residual, &one_tenth);
  /* 970 ms are claimed of 900: two parts of 25 ms, and 20 ms less than a part. */
  assert_int_equal(residual_pay(&residual, 100 * MS, 25 * MS), 50 * MS);
  residual.sampled_ns += 50 * MS;
  residual_count(&residual, 1100 * MS);
  /* 920 ms are claimed, and 100 more; of 1000, and 10 of these are expected to be stolen. */
  assert_int_equal(residual_pay(&residual, 100 * MS, 25 * MS), 75 * MS);
}

/* [unsampled] already contained it: nothing is taken back, and nothing is reported until the
   surplus is used up. */
static void what_was_reported_too_much_is_waited_out(void **state) {
  (void)state;
  struct residual residual = {.sampled_ns = 800 * MS};
  struct residual_step step;
  residual_count(&residual, one_tenth.counted_ns);
  residual_next(&residual, 0, &step);
  assert_int_equal(step.rest_ns, 200 * MS);
  residual_look(&residual, &one_tenth);
  residual_next(&residual, 0, &step);
  assert_int_equal(step.rest_ns, 0);
  residual_count(&residual, 1150 * MS);
  residual_next(&residual, 0, &step);
  assert_int_equal(step.rest_ns, 50 * MS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_counted_and_not_billed_is_stolen),
      cmocka_unit_test(a_clock_that_is_read_late_invents_no_stolen_time),
      cmocka_unit_test(a_process_that_ends_between_two_looks_takes_nothing_back),
      cmocka_unit_test(a_bill_without_all_processes_proves_nothing),
      cmocka_unit_test(a_board_that_lost_nothing_has_no_stolen_time),
      cmocka_unit_test(a_target_loses_at_most_twice_its_part_of_the_boards_loss),
      cmocka_unit_test(time_that_interrupts_took_is_no_processs_either),
      cmocka_unit_test(what_was_before_the_account_is_not_in_it),
      cmocka_unit_test(samples_pay_in_parts_and_keep_one),
      cmocka_unit_test(the_total_is_the_bill),
      cmocka_unit_test(samples_since_the_last_look_pay_in_advance),
      cmocka_unit_test(later_samples_pay_for_what_was_shown_beyond_the_bill),
      cmocka_unit_test(what_was_reported_too_much_is_waited_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
