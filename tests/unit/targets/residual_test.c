/* SPDX-License-Identifier: Apache-2.0 */
#include "targets/residual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void what_samples_do_not_show_is_kernel_time_first(void **state) {
  (void)state;
  struct residual residual = {.total_ns = 1000, .kernel_ns = 150, .sampled_ns = 800};
  struct residual_step step;
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns, 150);
  assert_int_equal(step.rest_ns, 50);
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns + step.rest_ns, 0);
}

static void kernel_time_that_samples_show_is_not_reported_again(void **state) {
  (void)state;
  struct residual residual = {
      .total_ns = 1000, .kernel_ns = 400, .sampled_ns = 900, .sampled_kernel_ns = 370};
  struct residual_step step;
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns, 30);
  assert_int_equal(step.rest_ns, 70);
  residual.total_ns = 1100;
  residual.sampled_kernel_ns = 500; /* chance gave the kernel more than the clocks did */
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns, 0);
  assert_int_equal(step.rest_ns, 100);
}

static void kernel_time_never_exceeds_what_is_missing(void **state) {
  (void)state;
  struct residual residual = {.total_ns = 1000, .kernel_ns = 400, .sampled_ns = 900};
  struct residual_step step;
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns, 100);
  assert_int_equal(step.rest_ns, 0);
}

static void more_samples_than_time_are_waited_out(void **state) {
  (void)state;
  struct residual residual = {.total_ns = 1000, .kernel_ns = 400, .sampled_ns = 700};
  struct residual_step step;
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns, 300);
  residual.sampled_ns = 1100;
  residual.total_ns = 1200;
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns + step.rest_ns, 0);
  residual.total_ns = 1500;
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns, 100);
  assert_int_equal(step.rest_ns, 0);
}

static void what_may_yet_be_sampled_is_held_back_until_the_end(void **state) {
  (void)state;
  struct residual residual = {.total_ns = 1000, .kernel_ns = 0, .sampled_ns = 900};
  struct residual_step step;
  residual_next(&residual, 80, &step);
  assert_int_equal(step.rest_ns, 20);
  residual_next(&residual, 5000, &step);
  assert_int_equal(step.rest_ns, 0);
  residual_next(&residual, 0, &step);
  assert_int_equal(step.rest_ns, 80);
}

static void all_steps_and_samples_add_up_to_the_total(void **state) {
  (void)state;
  struct residual residual = {0};
  struct residual_step step;
  uint64_t reported = 0;
  srand(1);
  for (unsigned i = 0; i < 1000; i++) {
    uint64_t user = (uint64_t)(rand() % 1000), kernel = (uint64_t)(rand() % 100);
    residual.total_ns += user + kernel;
    residual.kernel_ns += kernel;
    residual.sampled_ns += user - user % 10;
    residual_next(&residual, 500, &step);
    reported += step.kernel_ns + step.rest_ns;
  }
  residual_next(&residual, 0, &step);
  reported += step.kernel_ns + step.rest_ns;
  assert_int_equal(reported + residual.sampled_ns, residual.total_ns);
}

static void after_a_restart_only_what_comes_next_is_reported(void **state) {
  (void)state;
  struct residual residual = {.total_ns = 5000, .kernel_ns = 700, .sampled_ns = 10};
  struct residual_step step;
  residual_rebase(&residual);
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns + step.rest_ns, 0);
  residual.total_ns = 5400;
  residual.kernel_ns = 750;
  residual.sampled_ns = 300;
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns, 50);
  assert_int_equal(step.rest_ns, 50);
}

static void a_process_gets_what_it_claims_but_no_more_than_is_due(void **state) {
  (void)state;
  struct residual residual = {.total_ns = 1000, .kernel_ns = 100, .sampled_ns = 600};
  struct residual_claim claim = {.wanted_ns = 300, .is_kernel_known = true, .kernel_ns = 40};
  struct residual_step step;
  residual_bill(&residual, &claim, &step);
  assert_int_equal(step.kernel_ns, 40);
  assert_int_equal(step.rest_ns, 260);
  residual_bill(&residual, &claim, &step);
  assert_int_equal(step.kernel_ns + step.rest_ns, 100);
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns + step.rest_ns, 0);
}

static void an_ended_process_has_the_trees_share_of_kernel_time(void **state) {
  (void)state;
  struct residual residual = {.total_ns = 1000, .kernel_ns = 100, .sampled_ns = 600};
  struct residual_claim claim = {.wanted_ns = 200};
  struct residual_step step;
  residual_bill(&residual, &claim, &step);
  assert_int_equal(step.kernel_ns, 50);
  assert_int_equal(step.rest_ns, 150);
  residual_next(&residual, 0, &step);
  assert_int_equal(step.kernel_ns, 50);
  assert_int_equal(step.rest_ns, 150);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_samples_do_not_show_is_kernel_time_first),
      cmocka_unit_test(kernel_time_that_samples_show_is_not_reported_again),
      cmocka_unit_test(kernel_time_never_exceeds_what_is_missing),
      cmocka_unit_test(more_samples_than_time_are_waited_out),
      cmocka_unit_test(what_may_yet_be_sampled_is_held_back_until_the_end),
      cmocka_unit_test(all_steps_and_samples_add_up_to_the_total),
      cmocka_unit_test(a_process_gets_what_it_claims_but_no_more_than_is_due),
      cmocka_unit_test(an_ended_process_has_the_trees_share_of_kernel_time),
      cmocka_unit_test(after_a_restart_only_what_comes_next_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
