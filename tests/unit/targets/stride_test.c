/* SPDX-License-Identifier: Apache-2.0 */
/* The periods of events are never the same for long, and the asked one on the average.  What the
   kernel does with them is tested with rate.c. */
#include "intake/perf_attr.h"
#include "targets/stride.h"
#include "targets/targets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static struct target *open_target(uint64_t period_ns) {
  struct target *target = calloc(1, sizeof *target);
  struct perf_event_attr attr;
  perf_attr_fill(&attr, period_ns);
  target->held = (struct hold_target){.kind = HOLD_PERF, .fd_count = 1, .period_ns = period_ns};
  target->fds = malloc(sizeof *target->fds);
  target->fds[0] = perf_attr_open(&attr, 0, 0);
  if (target->fds[0] < 0) skip(); /* this machine allows no events at all */
  return target;
}

static void close_target(struct target *target) {
  close(target->fds[0]);
  rate_fini(&target->rate);
  free(target->fds);
  free(target);
}

static uint64_t take(struct target *target) {
  return stride_take(target, &(struct stride_sample){.period_ns = target->held.period_ns});
}

static void the_period_varies_by_up_to_a_fifth_and_the_rate_is_right(void **state) {
  (void)state;
  struct target *target = open_target(MS);
  uint64_t sum = 0, last = 0, lost = 0, changes = 0, shortest = UINT64_MAX, longest = 0;
  for (unsigned n = 1; n <= 100000; n++) {
    uint64_t weight = take(target), period = weight - lost;
    sum += weight;
    changes += period != last;
    target->records++;
    last = period;
    shortest = period < shortest ? period : shortest;
    longest = period > longest ? period : longest;
    stride_vary(target);
    lost = target->rate.strides[0].lost_ns;
    uint64_t off = sum > n * MS ? sum - n * MS : n * MS - sum;
    assert_true(off <= 3 * MS + n * MS / 100 && off <= 21 * MS); /* one stride, and a lost half */
  }
  assert_int_equal(changes, 1000); /* a hundred samples each */
  assert_true(shortest < 85 * MS / 100 && longest > 115 * MS / 100);
  assert_true(shortest >= 80 * MS / 100 && longest <= 120 * MS / 100);
  close_target(target);
}

/* Half a period is lost on the average; a change that follows without a sample loses nothing that
   anyone knows of. */
static void the_first_sample_after_a_change_stands_for_what_was_lost(void **state) {
  (void)state;
  struct target *target = open_target(MS);
  for (unsigned n = 0; n < STRIDE_SAMPLES_MIN; n++) assert_int_equal(take(target), MS);
  stride_vary(target);
  const struct stride *stride = &target->rate.strides[0];
  assert_int_equal(stride->lost_ns, MS / 2);
  assert_int_equal(take(target), stride->now_ns + MS / 2);
  assert_int_equal(take(target), stride->now_ns);
  uint64_t before_ns = stride->now_ns;
  assert_int_equal(stride_set_all(target, MS), 0);
  assert_int_equal(stride_set_all(target, MS), 0);
  assert_int_equal(take(target), stride->now_ns + before_ns / 2);
  close_target(target);
}

static void a_whole_cpus_clock_loses_nothing_that_is_shown(void **state) {
  (void)state;
  struct target *target = open_target(MS);
  target->held.kind = HOLD_BOARD;
  for (unsigned n = 0; n < STRIDE_SAMPLES_MIN; n++) take(target);
  stride_vary(target);
  assert_int_equal(take(target), target->rate.strides[0].now_ns);
  close_target(target);
}

static void a_slow_rate_keeps_a_period_for_a_hundred_samples(void **state) {
  (void)state;
  struct target *target = open_target(10 * MS);
  for (unsigned n = 1; n < STRIDE_SAMPLES_MIN; n++) {
    take(target);
    stride_vary(target);
    assert_int_equal(target->rate.strides[0].now_ns, 0);
  }
  take(target);
  stride_vary(target);
  assert_int_not_equal(target->rate.strides[0].now_ns, 0);
  close_target(target);
}

static void what_threads_inherited_is_believed_and_made_up_for(void **state) {
  (void)state;
  struct target *target = open_target(MS);
  const struct stride_sample slow = {.is_inherited = true, .period_ns = 11 * MS / 10};
  for (unsigned n = 0; n < 1000; n++) {
    assert_int_equal(stride_take(target, &slow), 11 * MS / 10);
    stride_vary(target);
  }
  assert_int_equal(target->rate.strides[0].now_ns, 0);
  for (unsigned n = 0; n < STRIDE_SAMPLES_MIN; n++) take(target);
  stride_vary(target);
  assert_true(target->rate.strides[0].now_ns < MS);
  close_target(target);
}

static void after_another_worker_a_sample_is_as_long_as_asked(void **state) {
  (void)state;
  struct target *target = open_target(MS);
  target->held.set_period_ns = 4 * MS;
  stride_forget(target);
  assert_int_equal(take(target), 4 * MS);
  close_target(target);
}

static void near_is_what_the_asked_period_may_be_varied_to(void **state) {
  (void)state;
  struct stride_choice choice = {.period_ns = MS, .samples = 1e6, .per_stride = 100};
  for (unsigned i = 0; i < 1000; i++, choice.random += UINT64_MAX / 999) {
    choice.debt_ns = 1;
    assert_true(stride_is_near(stride_near(&choice), MS) && stride_near(&choice) <= MS);
    choice.debt_ns = -1;
    assert_true(stride_is_near(stride_near(&choice), MS) && stride_near(&choice) >= MS);
  }
  assert_false(stride_is_near(2 * MS, MS));
  assert_false(stride_is_near(MS, 2 * MS));
}

static void a_short_run_is_varied_little(void **state) {
  (void)state;
  struct stride_choice choice = {
      .period_ns = MS, .random = UINT64_MAX, .samples = 1000, .per_stride = 100};
  assert_int_equal(stride_near(&choice), 110 * MS / 100);
  choice.samples = 100000;
  assert_int_equal(stride_near(&choice), 120 * MS / 100);
  choice.samples = 0;
  assert_int_equal(stride_near(&choice), 102 * MS / 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_period_varies_by_up_to_a_fifth_and_the_rate_is_right),
      cmocka_unit_test(the_first_sample_after_a_change_stands_for_what_was_lost),
      cmocka_unit_test(a_whole_cpus_clock_loses_nothing_that_is_shown),
      cmocka_unit_test(a_slow_rate_keeps_a_period_for_a_hundred_samples),
      cmocka_unit_test(what_threads_inherited_is_believed_and_made_up_for),
      cmocka_unit_test(after_another_worker_a_sample_is_as_long_as_asked),
      cmocka_unit_test(near_is_what_the_asked_period_may_be_varied_to),
      cmocka_unit_test(a_short_run_is_varied_little),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
