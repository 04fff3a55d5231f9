/* SPDX-License-Identifier: Apache-2.0 */
/* Time without samples was kernel time, unless another cause may have hidden the samples. */
#include "targets/kernel_part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static void what_no_sample_shows_was_in_the_kernel(void **state) {
  (void)state;
  struct kernel_part part = {0};
  kernel_part_begin(&part, 100 * MS);
  struct kernel_look look = {.counted_ns = 830 * MS, .sampled_ns = 674 * MS, .held_ns = 4 * MS};
  assert_int_equal(kernel_part_look(&part, &look), 52 * MS);
  look.held_ns = 0;
  assert_int_equal(kernel_part_look(&part, &look), 56 * MS);
  look.sampled_ns = 700 * MS; /* late samples: kernel time is not taken back */
  assert_int_equal(kernel_part_look(&part, &look), 56 * MS);
}

static void more_samples_than_time_are_no_kernel_time(void **state) {
  (void)state;
  struct kernel_part part = {0};
  const struct kernel_look look = {.counted_ns = 100 * MS, .sampled_ns = 101 * MS};
  assert_int_equal(kernel_part_look(&part, &look), 0);
}

static void threads_that_ended_may_have_hidden_a_period_each(void **state) {
  (void)state;
  struct kernel_part part = {.lost_ns = 600 * 2 * MS};
  struct kernel_look look = {.counted_ns = 1800 * MS, .sampled_ns = 1200 * MS};
  assert_int_equal(kernel_part_look(&part, &look), 0);
  look.counted_ns = 2800 * MS;
  assert_int_equal(kernel_part_look(&part, &look), 400 * MS);
}

/* Time without samples during a fault stays uncertain forever, but only that time. */
static void while_records_are_lost_nothing_is_called_kernel(void **state) {
  (void)state;
  struct kernel_part part = {0};
  struct kernel_look look = {.counted_ns = 1000 * MS, .sampled_ns = 950 * MS};
  assert_int_equal(kernel_part_look(&part, &look), 50 * MS);
  part.is_blind = true;
  look.counted_ns = 2000 * MS;
  look.sampled_ns = 1000 * MS;
  assert_int_equal(kernel_part_look(&part, &look), 50 * MS);
  look.counted_ns = 3000 * MS;
  look.sampled_ns = 1970 * MS;
  assert_int_equal(kernel_part_look(&part, &look), 80 * MS);
  look.is_blind = true; /* paused */
  look.counted_ns = 4000 * MS;
  assert_int_equal(kernel_part_look(&part, &look), 80 * MS);
  look.is_blind = false; /* and still at the look after it */
  look.counted_ns = 5000 * MS;
  assert_int_equal(kernel_part_look(&part, &look), 80 * MS);
  assert_false(part.is_blind);
}

static void stolen_time_is_no_kernel_time(void **state) {
  (void)state;
  struct kernel_part part = {0};
  const struct kernel_look look = {
      .counted_ns = 500 * MS, .sampled_ns = 400 * MS, .stolen_ns = 10 * MS};
  assert_int_equal(kernel_part_look(&part, &look), 90 * MS);
}

static void an_account_that_begins_anew_forgets_the_old_one(void **state) {
  (void)state;
  struct kernel_part part = {.lost_ns = MS, .hidden_ns = MS, .kernel_ns = MS, .is_blind = true};
  kernel_part_begin(&part, 10 * MS);
  const struct kernel_look look = {.counted_ns = 13 * MS, .sampled_ns = MS};
  assert_int_equal(kernel_part_look(&part, &look), 2 * MS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_no_sample_shows_was_in_the_kernel),
      cmocka_unit_test(more_samples_than_time_are_no_kernel_time),
      cmocka_unit_test(threads_that_ended_may_have_hidden_a_period_each),
      cmocka_unit_test(while_records_are_lost_nothing_is_called_kernel),
      cmocka_unit_test(stolen_time_is_no_kernel_time),
      cmocka_unit_test(an_account_that_begins_anew_forgets_the_old_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
