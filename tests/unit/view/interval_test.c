/* SPDX-License-Identifier: Apache-2.0 */
/* Wilson's interval against values computed independently, and at its edges. */
#include "view/interval.h"

#include "view/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_near(double value, double wanted, double tolerance) {
  if (!(fabs(value - wanted) <= tolerance)) fail_msg("%.12f is not %.12f", value, wanted);
}

/* Ends found by bisection on (q - p)^2 = z^2 p (1 - p) / n, without the closed form. */
static double bisect(double q, double n, double inside, double outside) {
  const double z = 1.959963984540054;
  for (int i = 0; i < 200; i++) {
    double p = (inside + outside) / 2;
    if ((q - p) * (q - p) <= z * z * p * (1 - p) / n)
      inside = p;
    else
      outside = p;
  }
  return inside;
}

static void known_values_are_met(void **state) {
  (void)state;
  /* 81 of 263 is the worked example in Newcombe, Statistics in Medicine 17 (1998): .2553 .3662 */
  struct view_share share = interval_wilson(81. / 263, 263);
  assert_near(share.low, 0.2553, 0.00005);
  assert_near(share.high, 0.3662, 0.00005);
  share = interval_wilson(15. / 148, 148); /* the same table: .0624 .1605 */
  assert_near(share.low, 0.0624, 0.00005);
  assert_near(share.high, 0.1605, 0.00005);
  share = interval_wilson(0, 20); /* .0000 .1611 */
  assert_near(share.low, 0, 0);
  assert_near(share.high, 0.1611, 0.00005);
  share = interval_wilson(1. / 29, 29); /* .0061 .1718 */
  assert_near(share.low, 0.0061, 0.00005);
  assert_near(share.high, 0.1718, 0.00005);
}

static void the_ends_solve_the_defining_equation(void **state) {
  (void)state;
  for (double n = 1; n <= 100000; n *= 10)
    for (int tenth = 1; tenth < 10; tenth++) {
      double q = tenth / 10.0;
      struct view_share share = interval_wilson(q, n);
      assert_near(share.share, q, 1e-12);
      assert_near(share.low, bisect(q, n, q, 0), 1e-9);
      assert_near(share.high, bisect(q, n, q, 1), 1e-9);
    }
}

static void none_and_all_touch_the_ends_exactly(void **state) {
  (void)state;
  for (double n = 1; n < 1e9; n *= 7) {
    struct view_share none = interval_wilson(0, n), all = interval_wilson(1, n);
    assert_true(none.low == 0 && none.high > 0 && none.high < 1);
    assert_true(all.high == 1 && all.low < 1 && all.low > 0);
    assert_near(none.high, 1 - all.low, 1e-12);
  }
}

/* A weight that no sample stands for is a share all the same. */
static void without_samples_a_share_may_be_anything(void **state) {
  (void)state;
  struct view_share share = interval_wilson(0, 0);
  assert_true(share.share == 0 && share.low == 0 && share.high == 1);
  share = interval_wilson(.25, 0);
  assert_true(share.share == .25 && share.low == 0 && share.high == 1);
  share = interval_wilson(5, -1);
  assert_true(share.share == 1 && share.low == 0 && share.high == 1);
}

static void the_share_always_lies_inside(void **state) {
  (void)state;
  srand(5);
  for (int i = 0; i < 100000; i++) {
    double n = 1 + rand() % 1000, k = n * rand() / RAND_MAX;
    struct view_share share = interval_wilson(k / n, n);
    assert_true(share.low <= share.share && share.share <= share.high);
    assert_true(share.low >= 0 && share.high <= 1);
  }
  assert_true(interval_wilson(1.8, 5).share == 1);
  assert_true(interval_wilson(-9, 5).share == 0);
}

static void it_covers_the_truth_in_about_95_of_100_trials(void **state) {
  (void)state;
  unsigned covered = 0, trials = 4000;
  srand(11);
  for (unsigned i = 0; i < trials; i++) {
    unsigned hits = 0;
    for (unsigned record = 0; record < 200; record++) hits += rand() % 10 < 3;
    struct view_share share = interval_wilson(hits / 200., 200);
    covered += share.low <= 0.3 && 0.3 <= share.high;
  }
  assert_in_range(covered * 1000 / trials, 935, 965);
}

static void a_dozen_samples_do_not_say_how_large_a_share_is(void **state) {
  (void)state;
  struct view_share of_12 = interval_wilson(.012, 1000), of_30 = interval_wilson(.03, 1000);
  struct view_share of_none = interval_wilson(0, 1000), of_all = interval_wilson(1, 1000);
  assert_true(interval_is_too_wide(&of_12));
  assert_false(interval_is_too_wide(&of_30));
  assert_true(interval_is_too_wide(&of_none));
  assert_false(interval_is_too_wide(&of_all));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_values_are_met),
      cmocka_unit_test(the_ends_solve_the_defining_equation),
      cmocka_unit_test(none_and_all_touch_the_ends_exactly),
      cmocka_unit_test(without_samples_a_share_may_be_anything),
      cmocka_unit_test(the_share_always_lies_inside),
      cmocka_unit_test(a_dozen_samples_do_not_say_how_large_a_share_is),
      cmocka_unit_test(it_covers_the_truth_in_about_95_of_100_trials),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
