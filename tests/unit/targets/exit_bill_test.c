/* SPDX-License-Identifier: Apache-2.0 */
#include "targets/exit_bill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ULL

static struct exit_bill a_bill(uint64_t said_ns) {
  return (struct exit_bill){.begun_ns = 1, .said_ns = said_ns};
}

static struct exit_claim a_claim(uint64_t sampled_ns) {
  return (struct exit_claim){.now_ns = 1000000 * MS,
                             .cpus = 2,
                             .sampled_ns = sampled_ns,
                             .period_ns = 10 * MS,
                             .key = exit_debt_key("sed", 1),
                             .is_final = true};
}

static void what_was_spent_and_not_sampled_is_billed_once(void **state) {
  (void)state;
  struct exit_debts debts = {0};
  struct exit_bill bill = a_bill(30 * MS);
  struct exit_claim claim = a_claim(20 * MS);
  assert_int_equal(exit_bill_next(&bill, &debts, &claim), 10 * MS);
  assert_int_equal(exit_bill_next(&bill, &debts, &claim), 0);
  assert_int_equal(bill.billed_ns, 10 * MS);
}

static void a_process_that_says_nothing_is_billed_nothing_and_owes_nothing(void **state) {
  (void)state;
  struct exit_debts debts = {0};
  struct exit_bill killed = a_bill(0), next = a_bill(2 * MS);
  struct exit_claim sampled = a_claim(50 * MS), unseen = a_claim(0);
  assert_int_equal(exit_bill_next(&killed, &debts, &sampled), 0);
  assert_int_equal(exit_bill_next(&next, &debts, &unseen), 2 * MS);
}

/* One of ten commands of a millisecond has a sample of ten milliseconds. */
static void samples_beyond_the_time_are_paid_by_the_next_of_that_service(void **state) {
  (void)state;
  struct exit_debts debts = {0};
  uint64_t shown = 0;
  for (int i = 0; i < 200; i++) {
    struct exit_bill bill = a_bill(MS);
    struct exit_claim claim = a_claim(i % 50 == 7 ? 10 * MS : 0);
    shown += claim.sampled_ns + exit_bill_next(&bill, &debts, &claim);
  }
  assert_int_equal(shown, 200 * MS);
}

static void nobody_pays_for_another_service_or_run(void **state) {
  (void)state;
  struct exit_debts debts = {0};
  struct exit_claim claim = a_claim(10 * MS);
  struct exit_bill over = a_bill(MS), other = a_bill(MS), elsewhere = a_bill(MS);
  assert_int_equal(exit_bill_next(&over, &debts, &claim), 0);
  claim.sampled_ns = 0;
  claim.key = exit_debt_key("true", 1);
  assert_int_equal(exit_bill_next(&other, &debts, &claim), MS);
  claim.key = exit_debt_key("sed", 2);
  assert_int_equal(exit_bill_next(&elsewhere, &debts, &claim), MS);
}

static void a_debt_is_no_more_than_chance_can_make(void **state) {
  (void)state;
  struct exit_debts debts = {0};
  struct exit_bill over = a_bill(MS), next = a_bill(1000 * MS);
  struct exit_claim claim = a_claim(3600000 * MS), later = a_claim(0);
  assert_int_equal(exit_bill_next(&over, &debts, &claim), 0);
  assert_int_equal(exit_bill_next(&next, &debts, &later), 840 * MS);
}

static void more_services_than_rows_forget_the_smallest_debt(void **state) {
  (void)state;
  struct exit_debts debts = {0};
  for (uint32_t run = 1; run <= EXIT_DEBTS_MAX + 1; run++) {
    struct exit_bill bill = a_bill(MS);
    struct exit_claim claim = a_claim(run == 3 ? 2 * MS : 9 * MS);
    claim.key = exit_debt_key("sed", run);
    assert_int_equal(exit_bill_next(&bill, &debts, &claim), 0);
  }
  struct exit_bill forgiven = a_bill(2 * MS);
  struct exit_claim claim = a_claim(0);
  claim.key = exit_debt_key("sed", 3);
  assert_int_equal(exit_bill_next(&forgiven, &debts, &claim), 2 * MS);
}

static void a_target_that_lives_makes_no_debt(void **state) {
  (void)state;
  struct exit_debts debts = {0};
  struct exit_bill bill = a_bill(5 * MS);
  struct exit_claim claim = a_claim(100 * MS);
  claim.is_final = false;
  assert_int_equal(exit_bill_next(&bill, &debts, &claim), 0);
  bill.said_ns = 110 * MS;
  assert_int_equal(exit_bill_next(&bill, &debts, &claim), 10 * MS);
}

static void nobody_spends_more_than_all_cpus(void **state) {
  (void)state;
  struct exit_debts debts = {0};
  struct exit_bill bill = {.begun_ns = 1000 * MS, .said_ns = UINT64_MAX};
  struct exit_claim claim = a_claim(0);
  claim.now_ns = 1010 * MS;
  assert_int_equal(exit_bill_next(&bill, &debts, &claim), 2 * 10 * MS + 50 * MS);
}

static void time_before_an_exec_is_the_earlier_programs(void **state) {
  (void)state;
  struct exit_debts debts = {0};
  struct exit_bill earlier = {.begun_ns = 1, .execed_ns = 70 * MS};
  struct exit_claim claim = a_claim(60 * MS);
  assert_int_equal(exit_bill_next(&earlier, &debts, &claim), 10 * MS);
  assert_int_equal(exit_bill_begin_ns(70 * MS, true), 70 * MS);
  assert_int_equal(exit_bill_begin_ns(2 * MS, false), 0);          /* its own start */
  assert_int_equal(exit_bill_begin_ns(900 * MS, false), 900 * MS); /* of another process */
}

static void a_new_worker_bills_nothing_of_what_it_does_not_know(void **state) {
  (void)state;
  struct exit_debts debts = {0};
  struct exit_bill bill = {.said_ns = 100 * MS};
  struct exit_claim claim = a_claim(0);
  assert_int_equal(exit_bill_next(&bill, &debts, &claim), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_spent_and_not_sampled_is_billed_once),
      cmocka_unit_test(a_process_that_says_nothing_is_billed_nothing_and_owes_nothing),
      cmocka_unit_test(samples_beyond_the_time_are_paid_by_the_next_of_that_service),
      cmocka_unit_test(nobody_pays_for_another_service_or_run),
      cmocka_unit_test(a_debt_is_no_more_than_chance_can_make),
      cmocka_unit_test(more_services_than_rows_forget_the_smallest_debt),
      cmocka_unit_test(a_target_that_lives_makes_no_debt),
      cmocka_unit_test(nobody_spends_more_than_all_cpus),
      cmocka_unit_test(time_before_an_exec_is_the_earlier_programs),
      cmocka_unit_test(a_new_worker_bills_nothing_of_what_it_does_not_know),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
