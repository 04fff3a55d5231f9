/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of several groups: against the textbook's mean, and against the limits of few groups. */
#include "view/interval.h"
#include "view/ratio.h"
#include "view/student.h"
#include "view/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_near(double is, double wanted, double within) {
  if (!(fabs(is - wanted) <= within)) fail_msg("%.9g is not %.9g", is, wanted);
}

/* Equal loads: s^2 / m with m - 1 degrees of freedom, by hand. */
static void equal_boards_are_a_mean_and_its_error(void **state) {
  static const uint64_t wholes[GROUPS_MAX] = {1000000, 1000000, 1000000, 1000000, 1000000};
  static const uint64_t parts[GROUPS_MAX] = {200000, 210000, 190000, 220000, 180000};
  struct ratio ratio;
  (void)state;
  ratio_init(&ratio, GROUPS_BOARDS, 5, wholes, 5e6);
  assert_near(ratio.df, 4, 1e-9);
  assert_near(ratio.quantile, 2.776, 0.0005);
  struct view_share share = ratio_share(&ratio, parts);
  double variance = 2 * (0.01 * 0.01 + 0.02 * 0.02) / 4 / 5;
  struct view_share wanted = interval_score(0.2, 0.16 / variance, ratio.quantile);
  assert_near(share.share, 0.2, 1e-12);
  assert_near(share.low, wanted.low, 1e-12);
  assert_near(share.high, wanted.high, 1e-12);
  assert_near(share.high - share.low, 2 * 2.776 * sqrt(variance), 0.001);
}

static void a_board_with_most_of_the_load_leaves_few_degrees_of_freedom(void **state) {
  static const uint64_t wholes[GROUPS_MAX] = {9000, 250, 250, 250, 250};
  struct ratio ratio;
  (void)state;
  ratio_init(&ratio, GROUPS_BOARDS, 5, wholes, 1e4);
  assert_true(ratio.df >= 1 && ratio.df < 3.2);
}

static void no_interval_is_narrower_than_that_of_the_samples(void **state) {
  static const uint64_t wholes[GROUPS_MAX] = {1000000, 1000000};
  static const uint64_t parts[GROUPS_MAX] = {100000, 100001};
  struct ratio ratio;
  (void)state;
  ratio_init(&ratio, GROUPS_BOARDS, 2, wholes, 2000);
  struct view_share share = ratio_share(&ratio, parts);
  struct view_share samples = interval_wilson(0.1000005, 2000);
  assert_near(share.low, samples.low, 1e-12);
  assert_near(share.high, samples.high, 1e-12);
}

static void few_stretches_of_time_tell_nothing(void **state) {
  static const uint64_t wholes[GROUPS_MAX] = {100, 100, 100, 100, 100, 100, 100, 100};
  struct ratio ratio;
  (void)state;
  ratio_init(&ratio, GROUPS_TIMES, GROUPS_TIMES_MIN - 1, wholes, 700);
  assert_false(ratio.is_grouped);
  ratio_init(&ratio, GROUPS_TIMES, GROUPS_TIMES_MIN, wholes, 800);
  assert_true(ratio.is_grouped);
  ratio_init(&ratio, GROUPS_BOARDS, 1, wholes, 100);
  assert_false(ratio.is_grouped);
}

/* Whatever is put in, the ends stay within 0 and 1 and around the share. */
static void ends_stay_within_0_and_1(void **state) {
  (void)state;
  for (unsigned run = 0; run < 2000; run++) {
    uint64_t wholes[GROUPS_MAX] = {0}, parts[GROUPS_MAX] = {0};
    unsigned count = 1 + run % 9;
    struct ratio ratio;
    for (unsigned i = 0; i < count; i++) {
      wholes[i] = (run * 7919 + i * 104729) % 5 == 0 ? 0 : 1 + (run * 31 + i * 17) % 1000;
      parts[i] = wholes[i] * ((run + i * i) % 4) / 3;
    }
    ratio_init(&ratio, GROUPS_BOARDS, count, wholes, run % 100);
    struct view_share share = ratio_share(&ratio, parts);
    assert_true(0 <= share.low && share.low <= share.share + 1e-12);
    assert_true(share.share <= share.high + 1e-12 && share.high <= 1);
    assert_true(!ratio.is_grouped || (ratio.df >= 1 && ratio.df <= count));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_boards_are_a_mean_and_its_error),
      cmocka_unit_test(a_board_with_most_of_the_load_leaves_few_degrees_of_freedom),
      cmocka_unit_test(no_interval_is_narrower_than_that_of_the_samples),
      cmocka_unit_test(few_stretches_of_time_tell_nothing),
      cmocka_unit_test(ends_stay_within_0_and_1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
