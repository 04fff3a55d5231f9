/* SPDX-License-Identifier: Apache-2.0 */
/* Periods of events vary constantly, and equal the requested period on average. rate_test.c tests
   the kernel's behaviour on them. */
#include "intake/perf_attr.h"
#include "targets/stride.h"
#include "targets/targets.h"

#include <math.h>
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

/* The daemon draws the start of the spread at random; it is fixed here, so each run sees the same.
 */
static struct target *open_spread(uint64_t period_ns, uint64_t spread) {
  struct target *target = open_target(period_ns);
  target->rate.spread = spread | 1;
  return target;
}

static uint64_t take(struct target *target) {
  return stride_take(target, &(struct stride_sample){.period_ns = target->held.period_ns});
}

/* A stride of a hundred is off by at most a fifth of each period. A change loses half a period,
   which the following sample stands for. */
static void check_spread(uint64_t spread) {
  struct target *target = open_spread(MS, spread);
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
    assert_true(off <= 2 * MS + n * MS / 100 && off <= 21 * MS);
  }
  assert_in_range(changes, 1000, 1060); /* a hundred samples each, but for the first */
  assert_true(shortest < 85 * MS / 100 && longest > 115 * MS / 100);
  assert_true(shortest >= 80 * MS / 100 && longest <= 120 * MS / 100);
  close_target(target);
}

static void the_period_varies_by_up_to_a_fifth_and_the_rate_is_right(void **state) {
  (void)state;
  for (uint64_t i = 1; i <= 100; i++) check_spread(i * i * UINT64_C(0x5851f42d4c957f2d));
}

/* Half a second may be a whole period or none: the events' counts are more exact. */
static void of_a_long_period_no_more_is_lost_than_was_spent(void **state) {
  (void)state;
  struct target *target = open_target(1000 * MS);
  for (unsigned n = 0; n < STRIDE_SAMPLES_MAX; n++) take(target);
  stride_vary(target);
  target_read_total(target);
  uint64_t spent = target->residual.total_ns; /* by this test: nothing that takes half a second */
  assert_true(spent < 400 * MS && target->rate.strides[0].lost_ns <= spent);
  target->residual.sampled_ns = 1000 * MS;
  for (unsigned n = 0; n < STRIDE_SAMPLES_MAX; n++) take(target);
  stride_vary(target);
  assert_int_equal(target->rate.strides[0].lost_ns, 0);
  close_target(target);
}

/* Half a period is lost on average; a change that follows without a sample loses no known time. */
static void the_first_sample_after_a_change_stands_for_what_was_lost(void **state) {
  (void)state;
  struct target *target = open_target(MS);
  for (unsigned n = 0; n < STRIDE_SAMPLES_MAX; n++) assert_int_equal(take(target), MS);
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
  for (unsigned n = 0; n < STRIDE_SAMPLES_MAX; n++) take(target);
  stride_vary(target);
  assert_int_equal(take(target), target->rate.strides[0].now_ns);
  close_target(target);
}

static void strides_are_short_while_samples_are_few(void **state) {
  (void)state;
  static const unsigned long so_far[] = {0, 200, 1000, 2000, 1000000},
                             expected[] = {10, 10, 50, 100, 100};
  for (unsigned i = 0; i < sizeof so_far / sizeof *so_far; i++) {
    struct target *target = open_target(10 * MS);
    target->records = so_far[i];
    unsigned long n = 0;
    for (; target->rate.strides == NULL || target->rate.strides[0].now_ns == 0; n++) {
      take(target);
      stride_vary(target);
    }
    assert_int_equal(n, expected[i]);
    close_target(target);
  }
}

static uint64_t now_ns(const struct target *target) {
  const struct stride *stride = target->rate.strides;
  return stride != NULL && stride->now_ns != 0 ? stride->now_ns : target->held.period_ns;
}

/* The share of the first six tenths of each loop in 2 s of a program whose loop takes LOOP_NS,
   sampled at 99 Hz by a daemon that drains each 200 ms, FIRST_NS after the start for the first
   time. */
static double share_of_two_seconds(uint64_t loop_ns, uint64_t first_ns) {
  struct target *target = open_spread(10101010, (uint64_t)rand() << 33 ^ (uint64_t)rand() << 11);
  uint64_t shown_ns = 0, all_ns = 0, next_ns = target->held.period_ns;
  for (uint64_t drain_ns = first_ns; drain_ns < 2200 * MS; drain_ns += 200 * MS) {
    for (; next_ns < drain_ns && next_ns < 2000 * MS; target->records++) {
      uint64_t weight_ns = take(target);
      if (next_ns % loop_ns < loop_ns / 10 * 6) shown_ns += weight_ns;
      all_ns += weight_ns;
      next_ns += now_ns(target);
    }
    uint64_t before_ns = now_ns(target);
    stride_vary(target);
    if (now_ns(target) != before_ns) next_ns = drain_ns + now_ns(target); /* as the kernel does */
  }
  close_target(target);
  return (double)shown_ns / (double)all_ns;
}

/* 200 independent samples of 0.6 have a standard deviation of 3.5 points. */
static void two_seconds_of_a_program_with_a_loop_are_shown_as_they_were(void **state) {
  (void)state;
  double squares = 0;
  unsigned runs = 0, far = 0;
  srand(7);
  for (uint64_t loop_ns = 900000; loop_ns < 25 * MS; loop_ns += loop_ns / 100, runs++) {
    double off = share_of_two_seconds(loop_ns, (uint64_t)(rand() % 200 + 1) * MS) - 0.6;
    squares += off * off;
    far += off > 0.07 || off < -0.07; /* outside of the interval */
  }
  assert_true(sqrt(squares / runs) < 0.04);
  assert_true(far < runs / 12);
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
  for (unsigned n = 0; n < STRIDE_SAMPLES_MAX; n++) take(target);
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

static void a_long_stride_is_varied_little_while_samples_are_few(void **state) {
  (void)state;
  struct stride_choice choice = {
      .period_ns = MS, .random = UINT64_MAX, .samples = 1000, .per_stride = 100};
  assert_int_equal(stride_near(&choice), 114 * MS / 100);
  choice.samples = 100000;
  assert_int_equal(stride_near(&choice), 120 * MS / 100);
  choice.samples = 0;
  assert_int_equal(stride_near(&choice), 104 * MS / 100);
  choice.per_stride = 10;
  assert_int_equal(stride_near(&choice), 120 * MS / 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_period_varies_by_up_to_a_fifth_and_the_rate_is_right),
      cmocka_unit_test(of_a_long_period_no_more_is_lost_than_was_spent),
      cmocka_unit_test(the_first_sample_after_a_change_stands_for_what_was_lost),
      cmocka_unit_test(a_whole_cpus_clock_loses_nothing_that_is_shown),
      cmocka_unit_test(strides_are_short_while_samples_are_few),
      cmocka_unit_test(two_seconds_of_a_program_with_a_loop_are_shown_as_they_were),
      cmocka_unit_test(what_threads_inherited_is_believed_and_made_up_for),
      cmocka_unit_test(after_another_worker_a_sample_is_as_long_as_asked),
      cmocka_unit_test(near_is_what_the_asked_period_may_be_varied_to),
      cmocka_unit_test(a_long_stride_is_varied_little_while_samples_are_few),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
