/* SPDX-License-Identifier: Apache-2.0 */
/* The controller against simulated boards: their cost has a fixed part and a part that depends on
   the factor, not always in proportion. */
#include "daemon/pace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#define DAY 86400.0
#define STEP 10.0

struct board {
  double fixed, variable; /* units a second, the second at factor 1 */
  double elasticity;      /* 1: in proportion */
  bool is_fixed_known;
  unsigned noise; /* percent, up and down in turn, with the seed of a generator */
};

static unsigned seed = 1;

static double jitter(const struct board *board) {
  seed = seed * 1103515245 + 12345;
  double part = (double)(seed >> 16 & 0x7fff) / 0x7fff * 2 - 1;
  return 1 + part * board->noise / 100;
}

static double spend(const struct board *board, double factor) {
  return (board->fixed + board->variable * pow(factor, board->elasticity)) * jitter(board);
}

/* Runs for SECONDS. Returns the CPU time spent. */
static double run(struct pace *pace, const struct board *board, double duration) {
  double sum = 0;
  for (double at = 0; at < duration; at += STEP) {
    struct pace_spent spent = {.seconds = STEP,
                               .units = spend(board, pace->factor) * STEP,
                               .fixed = board->is_fixed_known ? board->fixed * STEP : 0,
                               .factor = pace->factor};
    sum += spent.units;
    pace_step(pace, &spent);
  }
  return sum;
}

static void what_fits_is_never_slowed_down(void **state) {
  (void)state;
  struct pace pace = pace_start(5, 300);
  struct board board = {.fixed = 1, .variable = 3, .elasticity = 1, .noise = 20};
  run(&pace, &board, DAY);
  assert_true(pace.factor >= 1);
}

static void a_burst_that_the_purse_covers_is_let_pass(void **state) {
  (void)state;
  struct pace pace = pace_start(5, 300);
  struct board idle = {.fixed = 1}, busy = {.fixed = 1, .variable = 12, .elasticity = 1};
  run(&pace, &idle, 600);
  run(&pace, &busy, 10);
  assert_true(pace.factor >= 1);
}

static void a_step_of_load_is_met_at_once_and_settles_without_swinging(void **state) {
  (void)state;
  const double loads[] = {10, 50, 500, 5000};
  for (unsigned i = 0; i < sizeof loads / sizeof loads[0]; i++) {
    struct pace pace = pace_start(5, 300);
    struct board board = {.fixed = 1, .variable = loads[i], .elasticity = 1};
    run(&pace, &board, 3600);
    double least = 1e9, most = 0;
    for (unsigned step = 0; step < 360; step++) {
      run(&pace, &board, STEP);
      double cost = spend(&board, pace.factor);
      least = cost < least ? cost : least;
      most = cost > most ? cost : most;
    }
    assert_true(least > 5 * 0.75);
    assert_true(most < 5 * 1.3);
  }
}

static void a_day_is_held_to_its_budget(void **state) {
  (void)state;
  const double elasticities[] = {1, 0.5};
  for (unsigned i = 0; i < 2; i++) {
    struct pace pace = pace_start(5, 300);
    struct board board = {.fixed = 1, .variable = 400, .elasticity = elasticities[i], .noise = 30};
    double sum = run(&pace, &board, DAY);
    /* One step is spent before the first measurement. */
    assert_true(sum <= 5 * DAY + 300 + 401 * 1.3 * STEP);
    assert_true(sum >= 5 * DAY * 0.8);
  }
}

static void work_that_comes_and_goes_is_held_too(void **state) {
  (void)state;
  struct pace pace = pace_start(5, 300);
  struct board idle = {.fixed = 1}, busy = {.fixed = 1, .variable = 60, .elasticity = 1};
  double sum = 0, duration = 0;
  for (unsigned hour = 0; hour < 48; hour++, duration += 1800)
    sum += run(&pace, hour % 2 ? &busy : &idle, 1800);
  /* Each beginning costs a purse more at the most. */
  assert_true(sum <= 5 * duration + 300 + 61 * STEP);
}

static void rates_come_back_when_the_load_is_gone(void **state) {
  (void)state;
  struct pace pace = pace_start(5, 300);
  struct board busy = {.fixed = 1, .variable = 500, .elasticity = 1}, idle = {.fixed = 1};
  run(&pace, &busy, 3600);
  assert_true(pace.factor < 0.02);
  run(&pace, &idle, 60);
  assert_true(pace.factor < 0.2); /* slowly */
  run(&pace, &idle, 600);
  assert_true(pace.factor >= 1);
}

static void a_cost_that_no_rate_can_lower_ends_at_the_floor_and_is_forgiven_in_time(void **state) {
  (void)state;
  struct pace pace = pace_start(5, 300);
  struct board heavy = {.fixed = 20}, idle = {.fixed = 1};
  run(&pace, &heavy, DAY);
  assert_true(pace.factor <= PACE_FACTOR_MIN * 1.001);
  assert_true(pace_fill(&pace) <= 0 && pace.level >= -300);
  run(&pace, &idle, 1800);
  assert_true(pace.factor >= 1);
}

static void what_does_not_follow_the_factor_leaves_sampling_a_tenth(void **state) {
  (void)state;
  struct pace pace = pace_start(5, 300);
  struct board heavy = {.fixed = 20, .variable = 100, .elasticity = 1, .is_fixed_known = true};
  run(&pace, &heavy, DAY);
  assert_true(pace.factor * 100 > 5 * 0.5 * 0.1 * 0.8); /* of half the rate: it is in debt */
  assert_true(pace.factor * 100 < 5 * 0.5 * 0.1 * 1.05);
}

static void a_budget_that_cannot_be_held_is_told_from_one_that_is(void **state) {
  (void)state;
  struct pace pace = pace_start(5, 300);
  struct board heavy = {.fixed = 6, .variable = 100, .elasticity = 1, .is_fixed_known = true};
  struct board full = heavy, idle = {.fixed = 6, .is_fixed_known = true};
  run(&pace, &heavy, STEP);
  assert_false(pace_is_taken(&pace)); /* draining that many samples is the cost */
  run(&pace, &idle, 90);
  assert_true(pace_is_taken(&pace)); /* with nothing to sample, too */
  full.fixed = 4.6;                  /* and a tenth of half the rate is the budget */
  double sum = run(&pace, &full, DAY);
  assert_false(pace_is_taken(&pace));
  assert_true(sum <= 5 * DAY + 300);
  run(&pace, &heavy, 600);
  assert_true(pace_is_taken(&pace));
  pace = pace_start(5, 300);
  run(&pace, &idle, 60);
  assert_false(pace_is_taken(&pace)); /* paid from the unspent budget */
  pace = pace_start(0, 0);
  run(&pace, &heavy, 600);
  assert_false(pace_is_taken(&pace)); /* no budget */
}

/* The first measurement of a load of a hundred budgets finds a debt. After that sampling is slow
   but not off, and within minutes the rate fits the budget. */
static void after_a_debt_the_rate_is_soon_what_the_budget_pays(void **state) {
  (void)state;
  struct pace pace = pace_start(5, 300);
  struct board busy = {.fixed = 2, .variable = 500, .elasticity = 1, .is_fixed_known = true};
  run(&pace, &busy, STEP);
  assert_true(pace.level < 0);
  assert_true(pace.factor * 500 > 0.4);
  run(&pace, &busy, 300);
  assert_true(pace.factor * 500 > 2.2);
  double sum = run(&pace, &busy, DAY);
  assert_true(sum <= 5 * DAY + 300);
}

static void another_budgets_factor_does_not_wind_this_one_up(void **state) {
  (void)state;
  struct pace pace = pace_start(5, 300);
  struct board board = {.fixed = 1, .variable = 100, .elasticity = 1};
  for (unsigned i = 0; i < 100; i++) {
    struct pace_spent spent = {
        .seconds = STEP, .units = spend(&board, 0.01) * STEP, .factor = 0.01};
    pace_step(&pace, &spent);
  }
  assert_true(pace.factor >= 1); /* nothing here was ever too much */
  run(&pace, &board, 1800);
  assert_true(spend(&board, pace.factor) < 5 * 1.3);
}

static void no_budget_is_no_limit(void **state) {
  (void)state;
  struct pace pace = pace_start(0, 0);
  struct board board = {.variable = 1e9, .elasticity = 1};
  run(&pace, &board, 1000);
  assert_true(pace.factor >= 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_fits_is_never_slowed_down),
      cmocka_unit_test(a_burst_that_the_purse_covers_is_let_pass),
      cmocka_unit_test(a_step_of_load_is_met_at_once_and_settles_without_swinging),
      cmocka_unit_test(a_day_is_held_to_its_budget),
      cmocka_unit_test(work_that_comes_and_goes_is_held_too),
      cmocka_unit_test(rates_come_back_when_the_load_is_gone),
      cmocka_unit_test(a_cost_that_no_rate_can_lower_ends_at_the_floor_and_is_forgiven_in_time),
      cmocka_unit_test(what_does_not_follow_the_factor_leaves_sampling_a_tenth),
      cmocka_unit_test(a_budget_that_cannot_be_held_is_told_from_one_that_is),
      cmocka_unit_test(after_a_debt_the_rate_is_soon_what_the_budget_pays),
      cmocka_unit_test(another_budgets_factor_does_not_wind_this_one_up),
      cmocka_unit_test(no_budget_is_no_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
