/* SPDX-License-Identifier: Apache-2.0 */
/* The mark's decision on simulated threads: ticks at random, ticks in step with a program, and
   captured records of programs with known shares. */
#include "census/lock_step.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TICK_NS UINT64_C(4000000)
#define SECOND_NS UINT64_C(1000000000)

static uint64_t seed = 88172645463325252U;

static double random_unit(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (double)(seed >> 11) / 9007199254740992.0;
}

/* A thread that repeatedly sleeps and works for these nanoseconds, under a timer of PERIOD_NS that
   expires at ticks, as in the kernel. */
struct program {
  double sleep_ns, work_ns;
  double sleep_spread, work_spread; /* of uniform distributions, as a part */
  uint64_t period_ns;
};

static struct lock_step_tally simulate(const struct program *program, unsigned rounds) {
  struct lock_step_tally tally = {0};
  double now = random_unit() * (double)TICK_NS, cpu = 0,
         next_expiry = random_unit() * (double)program->period_ns;
  for (unsigned i = 0; i < rounds; i++) {
    double work = program->work_ns * (1 + program->work_spread * (2 * random_unit() - 1));
    now += program->sleep_ns * (1 + program->sleep_spread * (2 * random_unit() - 1));
    double tick = ((double)(uint64_t)(now / (double)TICK_NS) + 1) * (double)TICK_NS;
    for (; tick < now + work; tick += (double)TICK_NS) {
      uint32_t weight = 0;
      for (; next_expiry <= cpu + (tick - now); next_expiry += (double)program->period_ns) weight++;
      if (weight > 0) lock_step_count(&tally, weight);
    }
    now += work;
    cpu += work;
  }
  return tally;
}

static const uint64_t periods[] = {1000000, 4000000, 10101010, 20000000};

static void a_thread_that_never_sleeps_is_not_bursty(void **state) {
  (void)state;
  struct lock_step_pace pace = {2 * SECOND_NS, 2 * SECOND_NS, 0};
  assert_false(lock_step_is_bursty(&pace, TICK_NS));
  pace.sleeps = 100; /* 20 ms each */
  assert_false(lock_step_is_bursty(&pace, TICK_NS));
  pace.sleeps = 600; /* 3.3 ms each */
  assert_true(lock_step_is_bursty(&pace, TICK_NS));
  pace.cpu_ns = SECOND_NS / 100; /* half a percent of the time */
  assert_false(lock_step_is_bursty(&pace, TICK_NS));
  pace = (struct lock_step_pace){0};
  assert_false(lock_step_is_bursty(&pace, TICK_NS));
}

static void wake_ups_at_the_ticks_rate_are_locked(void **state) {
  (void)state;
  static const uint64_t locked[] = {250, 246, 254, 500, 125, 63, 1000, 750}; /* of 250 Hz */
  static const uint64_t loose[] = {100, 200, 230, 281, 330, 30, 5000, 0};
  for (unsigned i = 0; i < 8; i++) {
    struct lock_step_pace pace = {10 * SECOND_NS, SECOND_NS, 10 * locked[i]};
    assert_true(lock_step_is_locked(&pace, TICK_NS));
    pace.sleeps = 10 * loose[i];
    assert_false(lock_step_is_locked(&pace, TICK_NS));
  }
  struct lock_step_pace nothing = {0};
  assert_false(lock_step_is_locked(&nothing, TICK_NS));
}

static void random_bursts_are_fair_at_every_rate(void **state) {
  (void)state;
  for (unsigned run = 0; run < 400; run++) {
    struct program program = {.sleep_ns = 1e6 + 4e6 * random_unit(),
                              .work_ns = 2e5 + 2e6 * random_unit(),
                              .sleep_spread = 1,
                              .work_spread = 0.5,
                              .period_ns = periods[run % 4]};
    struct lock_step_tally tally = simulate(&program, 4000);
    assert_false(lock_step_is_unfair(&tally, program.period_ns, TICK_NS));
  }
}

static void a_round_of_exactly_one_tick_is_unfair_or_locked(void **state) {
  (void)state;
  unsigned unfair = 0, runs = 100;
  for (unsigned run = 0; run < runs; run++) {
    struct program program = {.sleep_ns = 3e6, .work_ns = 1e6, .period_ns = periods[run % 3]};
    struct lock_step_tally tally = simulate(&program, 10000);
    /* Never hit at all: no record either, and its wake-ups give it away. */
    unfair += tally.records == 0 || lock_step_is_unfair(&tally, program.period_ns, TICK_NS);
  }
  assert_true(unfair > runs / 2);
  struct lock_step_pace pace = {2 * SECOND_NS, SECOND_NS / 2, 500};
  assert_true(lock_step_is_locked(&pace, TICK_NS));
}

/* A slow beat against the tick: hits occur in runs. */
static void a_drifting_round_scatters_its_weights(void **state) {
  (void)state;
  struct program program = {.sleep_ns = 3.02e6, .work_ns = 0.95e6, .period_ns = 1000000};
  struct lock_step_tally tally = simulate(&program, 4000);
  assert_true(lock_step_is_unfair(&tally, program.period_ns, TICK_NS));
}

static void captured_programs_are_judged_as_their_truth_was(void **state) {
  (void)state;
  /* records, weights, squares; shown shares 76:22, 68:29 by chance and 34:65 where true were 65:33
   */
  static const struct lock_step_tally wrong[] = {
      {1110, 3117, 41000}, {194, 320, 870}, {490, 3589, 70000}};
  static const uint64_t wrong_periods[] = {1000000, 10101010, 1000000};
  /* random sleeps; shown within 3 points */
  static const struct lock_step_tally right[] = {
      {397, 1756, 14320}, {883, 3924, 28500}, {284, 451, 1000}};
  static const uint64_t right_periods[] = {1000000, 1000000, 4000000};
  for (unsigned i = 0; i < 3; i++) {
    assert_true(lock_step_is_unfair(&wrong[i], wrong_periods[i], TICK_NS));
    assert_false(lock_step_is_unfair(&right[i], right_periods[i], TICK_NS));
  }
}

static void few_records_prove_nothing(void **state) {
  (void)state;
  struct lock_step_tally tally = {3, 22, 200};
  assert_false(lock_step_is_unfair(&tally, 4000000, TICK_NS));
  tally = (struct lock_step_tally){0};
  assert_false(lock_step_is_unfair(&tally, 4000000, TICK_NS));
  tally = (struct lock_step_tally){100, 200, 500};
  assert_false(lock_step_is_unfair(&tally, SECOND_NS, TICK_NS)); /* every expiry finds a tick */
}

static void old_records_fade(void **state) {
  (void)state;
  struct program stepping = {.sleep_ns = 3.02e6, .work_ns = 0.95e6, .period_ns = 1000000};
  struct lock_step_tally tally = simulate(&stepping, 4000);
  assert_true(lock_step_is_unfair(&tally, 1000000, TICK_NS));
  for (unsigned i = 0; i < 40000; i++) { /* geometric, as a fair tick makes them */
    uint32_t weight = 1;
    while (random_unit() > 0.2212) weight++;
    lock_step_count(&tally, weight);
  }
  assert_false(lock_step_is_unfair(&tally, 1000000, TICK_NS));
}

static void the_tick_of_this_kernel_is_known(void **state) {
  (void)state;
  uint64_t tick_ns = lock_step_tick_ns();
  assert_true(tick_ns >= 900000 && tick_ns <= 10000000); /* 1000 to 100 Hz */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thread_that_never_sleeps_is_not_bursty),
      cmocka_unit_test(wake_ups_at_the_ticks_rate_are_locked),
      cmocka_unit_test(random_bursts_are_fair_at_every_rate),
      cmocka_unit_test(a_round_of_exactly_one_tick_is_unfair_or_locked),
      cmocka_unit_test(a_drifting_round_scatters_its_weights),
      cmocka_unit_test(captured_programs_are_judged_as_their_truth_was),
      cmocka_unit_test(few_records_prove_nothing),
      cmocka_unit_test(old_records_fade),
      cmocka_unit_test(the_tick_of_this_kernel_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
