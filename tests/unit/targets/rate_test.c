/* SPDX-License-Identifier: Apache-2.0 */
/* The weight of samples after a change of rate, and the kernel's real behaviour on that change. */
#include "intake/perf_attr.h"
#include "perf/perf_ring.h"
#include "targets/rate.h"
#include "targets/stride.h"
#include "targets/targets.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { OPENED = 42, INHERITED = 43 };

static struct stride stride;

static struct target target_at(uint64_t asked_ns, uint64_t set_ns) {
  struct target target = {
      .held = {.kind = HOLD_PERF, .fd_count = 1, .period_ns = asked_ns, .set_period_ns = set_ns},
      .rate = {.strides = &stride, .random = 7}};
  stride = (struct stride){.before_ns = asked_ns, .now_ns = set_ns, .changed_at = 1000};
  return target;
}

static uint64_t weigh(struct target *target, int stream, uint64_t period_ns, uint64_t at) {
  struct stride_sample sample = {
      .is_inherited = stream == INHERITED, .period_ns = period_ns, .position = at};
  return rate_weigh(target, &sample);
}

static void a_sample_weighs_what_it_says_until_a_rate_is_set(void **state) {
  (void)state;
  struct target target = target_at(10 * MS, 0);
  assert_int_equal(weigh(&target, OPENED, 10 * MS, 0), 10 * MS);
  assert_int_equal(weigh(&target, INHERITED, 15 * MS, 5000), 15 * MS);
}

static void weights_are_quarters_of_the_period_and_sum_up_to_the_time(void **state) {
  (void)state;
  struct target target = target_at(10 * MS, 10 * MS);
  uint64_t sum = 0, true_ns = 0;
  for (uint64_t n = 0; n < 40000; n++) {
    uint64_t period_ns = 8 * MS + n / 50 * 77777 % (4 * MS); /* strides of fifty */
    uint64_t weight = weigh(&target, INHERITED, period_ns, 5000), off = 10 * MS / 4 / 2;
    assert_int_equal(weight % (10 * MS / 4), 0);
    assert_true(weight + 2 * off >= period_ns && weight <= period_ns + 2 * off);
    sum += weight;
    true_ns += period_ns;
    assert_true(sum <= true_ns + off && sum + off >= true_ns);
  }
}

static void the_opened_events_samples_weigh_what_was_set_from_there_on(void **state) {
  (void)state;
  struct target target = target_at(10 * MS, 2 * MS); /* raised: nothing is thinned */
  assert_int_equal(weigh(&target, OPENED, 10 * MS, 999), 10 * MS);
  assert_int_equal(weigh(&target, OPENED, 10 * MS, 1000), 2 * MS);
  assert_int_equal(target.rate.thinned, 0);
}

static void an_inherited_event_that_is_slower_is_believed(void **state) {
  (void)state;
  struct target target = target_at(10 * MS, 2 * MS);
  assert_int_equal(weigh(&target, INHERITED, 10 * MS, 5000), 10 * MS);
}

static void thinned_samples_sum_up_to_the_same_time(void **state) {
  (void)state;
  const uint64_t wanted[] = {MS, 3 * MS, 10 * MS, 101 * MS / 10};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    struct target target = target_at(MS / 4, wanted[i]);
    uint64_t sum = 0, kept = 0;
    for (unsigned n = 1; n <= 40000; n++) {
      uint64_t weight = weigh(&target, INHERITED, MS / 4, 5000);
      assert_int_equal(weight % wanted[i], 0);
      sum += weight;
      kept += weight > 0;
      uint64_t true_ns = n * MS / 4;
      assert_true(sum <= true_ns + wanted[i] && sum + wanted[i] >= true_ns);
    }
    assert_int_equal(kept + target.rate.thinned, 40000);
    assert_true(kept <= 40000 * (MS / 4) / wanted[i] + 1);
  }
}

/* Every fourth sample is of another function: thinned to every fourth it must not be all or none of
   them. */
static void thinning_is_not_in_step_with_the_program(void **state) {
  (void)state;
  struct target target = target_at(MS, 4 * MS);
  uint64_t fourth = 0, sum = 0;
  for (unsigned n = 0; n < 40000; n++) {
    uint64_t weight = weigh(&target, INHERITED, MS, 5000);
    sum += weight;
    if (n % 4 == 0) fourth += weight;
  }
  /* A quarter of 10 000 draws: one standard deviation is 43. */
  assert_true(fourth * 100 > sum * 23 && fourth * 100 < sum * 27);
}

static void samples_that_no_change_reaches_are_told_of_when_they_are_a_quarter(void **state) {
  (void)state;
  struct target target = target_at(MS, 0);
  for (unsigned n = 0; n < 100; n++) weigh(&target, INHERITED, MS, 5000);
  target.records = 100;
  assert_false(rate_take_stale(&target)); /* they may get events of their own yet */
  target.rate.apart_fault = "too many threads";
  for (unsigned n = 0; n < 100; n++) weigh(&target, n < 25 ? INHERITED : OPENED, MS, 5000);
  target.records = 200;
  assert_true(rate_take_stale(&target));
  assert_false(rate_take_stale(&target)); /* since the last call */
  for (unsigned n = 0; n < 100; n++) weigh(&target, n < 24 ? INHERITED : OPENED, MS, 5000);
  target.records = 300;
  assert_false(rate_take_stale(&target));
}

static void a_rings_period_is_a_multiple_of_its_unit(void **state) {
  (void)state;
  struct ring_reader ring = {.base = calloc(1, RING_HEADER_BYTES)};
  struct target target = {.held = {.kind = HOLD_TIMER, .period_ns = 16 * MS, .unit_ns = MS},
                          .ring = ring};
  const struct ring_header *header = (const struct ring_header *)(const void *)ring.base;
  assert_int_equal(rate_set(&target, 33 * MS + MS / 4), 0);
  assert_int_equal(header->period_ns % MS, 0);
  assert_in_range(header->period_ns, 31 * MS, 35 * MS);
  assert_int_not_equal(header->period_ns, 33 * MS);
  assert_int_equal(rate_period_ns(&target), 33 * MS);
  assert_int_equal(header->serial, 1);
  assert_int_equal(rate_set(&target, MS / 5), 0);
  assert_int_equal(header->period_ns, MS);
  free(target.watches);
  free(ring.base);
}

/* Programs in step with the requested rate must not be in step with the actual rate. */
static void a_timers_period_is_near_the_asked_one_and_never_equal(void **state) {
  (void)state;
  uint64_t random = 1, shorter = 0, longer = 0;
  for (unsigned i = 0; i < 1000; i++) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    uint64_t period_ns = stride_near_timer(10 * MS, random ^ random >> 32);
    uint64_t off_ns = period_ns > 10 * MS ? period_ns - 10 * MS : 10 * MS - period_ns;
    assert_in_range(off_ns, 10 * MS / 32, 10 * MS / 16);
    if (period_ns > 10 * MS) longer++;
    if (period_ns < 10 * MS) shorter++;
  }
  assert_in_range(longer, 400, 600);
  assert_int_equal(longer + shorter, 1000);
  for (uint64_t bits = 0; bits < 2; bits++) {
    assert_true(stride_near_timer(RATE_PERIOD_NS_MIN, bits) > RATE_PERIOD_NS_MIN);
    assert_true(stride_near_timer(RATE_PERIOD_NS_MAX, bits) < RATE_PERIOD_NS_MAX);
  }
}

static void a_budget_scales_the_wish_and_stops_at_one_hertz(void **state) {
  (void)state;
  struct ring_reader ring = {.base = calloc(1, RING_HEADER_BYTES)};
  struct target target = {
      .held = {.kind = HOLD_TIMER, .period_ns = 10 * MS, .unit_ns = MS, .asked_mhz = 100000},
      .ring = ring};
  assert_false(rate_scale(&target, 1));
  assert_string_equal(rate_reason(&target), "asked");
  assert_true(rate_scale(&target, 0.5));
  assert_int_equal(rate_period_ns(&target), 20 * MS);
  assert_string_equal(rate_reason(&target), "budget");
  assert_false(rate_scale(&target, 0.51)); /* not worth a change */
  assert_true(rate_scale(&target, 0.0001));
  assert_int_equal(rate_period_ns(&target), 1000 * MS);
  assert_true(rate_scale(&target, 0.5));
  assert_int_equal(rate_wish(&target, 5 * MS), 0); /* half of 200 Hz */
  assert_int_equal(rate_period_ns(&target), 10 * MS);
  assert_int_equal(rate_wish_mhz(&target), 200000);
  assert_true(rate_scale(&target, 1));
  assert_int_equal(rate_period_ns(&target), 5 * MS);
  assert_string_equal(rate_reason(&target), "ctl");
  free(target.watches);
  free(ring.base);
}

static void what_is_achieved_is_unknown_until_there_are_samples_of_the_new_rate(void **state) {
  struct target target = {.held = {.kind = HOLD_TIMER}};
  (void)state;
  target.records = 100;
  target.weight_ns = 1000 * MS;
  assert_int_equal(target_achieved_mhz(&target), 100000);
  target_begin_achieved(&target);
  target.records += 19;
  target.weight_ns += 1900 * MS;
  assert_int_equal(target_achieved_mhz(&target), 0);
  target.records++;
  target.weight_ns += 100 * MS;
  assert_int_equal(target_achieved_mhz(&target), 10000);
}

static void a_pause_is_no_part_of_what_is_achieved(void **state) {
  struct target target = {.held = {.kind = HOLD_TIMER, .control = RING_PAUSE}};
  (void)state;
  target.records = 100;
  target.weight_ns = 1000 * MS;
  target.rate.rest_mhz = 99000; /* before the pause */
  assert_int_equal(target_achieved_mhz(&target), 99000);
  target.held.control = RING_RUN;
  target.held.is_killed = true;
  assert_int_equal(target_achieved_mhz(&target), 99000);
  target.held.is_killed = false;
  assert_int_equal(target_achieved_mhz(&target), 100000);
}

static void a_rate_out_of_range_is_refused(void **state) {
  (void)state;
  struct target target = target_at(MS, 0);
  assert_int_equal(rate_set(&target, RATE_PERIOD_NS_MIN - 1), -EINVAL);
  assert_int_equal(rate_set(&target, RATE_PERIOD_NS_MAX + 1), -EINVAL);
  assert_int_equal(rate_period_ns(&target), MS);
}

static void spin_cpu_ms(uint64_t ms) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  uint64_t end = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 + ms;
  for (uint64_t at = 0; at < end;) {
    for (volatile unsigned i = 0; i < 100000; i++) {
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    at = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
  }
}

static uint64_t sum_heads(const struct perf_rings *rings) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < rings->count; i++) sum += perf_ring_head(&rings->cpus[i]);
  return sum;
}

static void a_real_event_takes_the_new_period_and_waits_for_the_drain(void **state) {
  (void)state;
  static struct perf_rings rings;
  struct hold_target held = {.id = 1, .kind = HOLD_PERF, .period_ns = MS};
  struct perf_event_attr attr;
  struct hold_table none = {.last_id = 0};
  struct targets targets;
  int fds[PERF_CPUS_MAX];
  perf_rings_open(&rings);
  if (rings.count == 0) skip(); /* this machine allows no events at all */
  targets_restore(&targets, &none, &rings);
  perf_attr_fill(&attr, MS);
  attr.enable_on_exec = 0;
  attr.disabled = 0;
  for (unsigned i = 0; i < rings.count; i++) {
    fds[i] = perf_attr_open(&attr, 0, rings.cpus[i].cpu);
    assert_true(fds[i] >= 0);
    assert_int_equal(perf_ring_redirect(&rings.cpus[i], fds[i]), 0);
  }
  held.fd_count = rings.count;
  struct target *target = targets_add_take(&targets, &held, fds);
  assert_non_null(target);
  spin_cpu_ms(100);
  uint64_t fast = sum_heads(&rings);
  assert_int_equal(rate_set(target, 20 * MS), 0);
  assert_int_equal(rate_set(target, 30 * MS), -EBUSY);
  uint64_t start = sum_heads(&rings);
  spin_cpu_ms(100);
  uint64_t slow = sum_heads(&rings) - start;
  assert_true(fast > 0 && slow * 5 < fast);
  for (unsigned i = 0; i < rings.count; i++)
    perf_ring_release(&rings.cpus[i], perf_ring_head(&rings.cpus[i]));
  assert_int_equal(rate_set(target, 30 * MS), 0);
  assert_int_equal(rate_longest_ns(target), 36 * MS);
  targets_fini(&targets);
  perf_rings_close(&rings);
}

/* Samples one thread's CPU time up to UNTIL_NS by the rule. Returns the number of samples; RET_NS
   is the final period. */
static uint64_t run_by_the_law(uint64_t until_ns, uint64_t sample_ns, uint64_t *ret_ns) {
  struct rate_spent spent = {.sample_ns = sample_ns};
  *ret_ns = RATE_AUTO_START_NS;
  for (uint64_t next_ns = 0; spent.cpu_ns < until_ns; spent.cpu_ns += *ret_ns) {
    spent.samples++;
    if (spent.cpu_ns < next_ns) continue;
    *ret_ns = rate_auto_period_ns(&spent);
    next_ns = spent.cpu_ns + 200 * MS; /* a tick */
  }
  return spent.samples;
}

static void an_automatic_rate_starts_at_a_thousand_and_ends_at_99_hertz(void **state) {
  (void)state;
  uint64_t period_ns;
  assert_in_range(run_by_the_law(200 * MS, 15000, &period_ns), 199, 201);
  assert_int_equal(period_ns, RATE_AUTO_START_NS);
  assert_in_range(run_by_the_law(60000 * MS, 2000, &period_ns), 15000, 18000);
  assert_int_equal(period_ns, RATE_AUTO_FLOOR_NS);
  run_by_the_law(3600000 * MS, 500, &period_ns);
  assert_int_equal(period_ns, RATE_AUTO_FLOOR_NS);
}

static void two_seconds_have_a_thousand_samples_and_later_ones_cost_a_hundredth(void **state) {
  (void)state;
  uint64_t period_ns;
  static const uint64_t costs[] = {1000, 5000, 14000, 18000, 24000, 100000, 5000000};
  for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
    uint64_t cost = costs[i];
    uint64_t two = run_by_the_law(2000 * MS, cost, &period_ns);
    if (cost <= 24000) assert_in_range(two, 1000, 2001);
    if (cost <= 14000) assert_true(two * cost <= 21 * MS); /* 1 % and a tick */
    if (cost <= 24000) assert_true(two * cost <= 31 * MS); /* 1.5 % */
    uint64_t ten = run_by_the_law(10000 * MS, cost, &period_ns);
    assert_true(cost > 90000 || ten * cost <= 105 * MS);
    assert_true(period_ns <= RATE_AUTO_FLOOR_NS);
  }
}

static void an_automatic_rate_by_timer_has_no_period_that_misses_ticks(void **state) {
  (void)state;
  struct rate_spent spent = {.sample_ns = 7000};
  static const uint64_t ticks_ns[] = {1 * MS, 4 * MS, 10 * MS};
  for (size_t i = 0; i < sizeof ticks_ns / sizeof *ticks_ns; i++) {
    spent.tick_ns = ticks_ns[i];
    for (spent.cpu_ns = 0; spent.cpu_ns < 60000 * MS; spent.cpu_ns += 100 * MS) {
      spent.samples = spent.cpu_ns / spent.tick_ns;
      uint64_t period_ns = rate_auto_period_ns(&spent);
      assert_true(period_ns == RATE_AUTO_START_NS || period_ns > spent.tick_ns);
      if (spent.tick_ns > MS && spent.cpu_ns < 15000 * MS)
        assert_int_equal(period_ns, RATE_AUTO_START_NS);
    }
    assert_int_equal(rate_auto_period_ns(&spent), RATE_AUTO_FLOOR_NS);
  }
}

static void what_is_asked_for_of_an_automatic_rate_is_what_it_has_come_to(void **state) {
  (void)state;
  struct target target = target_at(MS, 0);
  target.held.is_auto_rate = true;
  target.held.asked_mhz = 1000000;
  assert_int_equal(rate_wish_mhz(&target), 1000000);
  assert_string_equal(rate_reason(&target), "budget");
  rate_auto_restore(&target);
  assert_int_equal(rate_wish_mhz(&target), 99000);
  target.held.wish_period_ns = 2 * MS;
  assert_string_equal(rate_reason(&target), "ctl");
  assert_int_equal(rate_wish_mhz(&target), 500000);
  assert_false(rate_auto_step(&target, 15000, 4 * MS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sample_weighs_what_it_says_until_a_rate_is_set),
      cmocka_unit_test(the_opened_events_samples_weigh_what_was_set_from_there_on),
      cmocka_unit_test(an_inherited_event_that_is_slower_is_believed),
      cmocka_unit_test(weights_are_quarters_of_the_period_and_sum_up_to_the_time),
      cmocka_unit_test(thinned_samples_sum_up_to_the_same_time),
      cmocka_unit_test(thinning_is_not_in_step_with_the_program),
      cmocka_unit_test(samples_that_no_change_reaches_are_told_of_when_they_are_a_quarter),
      cmocka_unit_test(a_rings_period_is_a_multiple_of_its_unit),
      cmocka_unit_test(a_timers_period_is_near_the_asked_one_and_never_equal),
      cmocka_unit_test(a_budget_scales_the_wish_and_stops_at_one_hertz),
      cmocka_unit_test(what_is_achieved_is_unknown_until_there_are_samples_of_the_new_rate),
      cmocka_unit_test(an_automatic_rate_starts_at_a_thousand_and_ends_at_99_hertz),
      cmocka_unit_test(two_seconds_have_a_thousand_samples_and_later_ones_cost_a_hundredth),
      cmocka_unit_test(an_automatic_rate_by_timer_has_no_period_that_misses_ticks),
      cmocka_unit_test(what_is_asked_for_of_an_automatic_rate_is_what_it_has_come_to),
      cmocka_unit_test(a_pause_is_no_part_of_what_is_achieved),
      cmocka_unit_test(a_rate_out_of_range_is_refused),
      cmocka_unit_test(a_real_event_takes_the_new_period_and_waits_for_the_drain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
