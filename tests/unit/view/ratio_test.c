/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of several groups: against the textbook's mean, and against the limits of few groups. */
#include "view/evidence.h"
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

static struct view_share share_of(const struct ratio *ratio, const uint64_t parts[GROUPS_MAX]) {
  double part = 0;
  for (unsigned i = 0; i < ratio->count; i++) part += (double)parts[i];
  double share = ratio->whole > 0 ? part / ratio->whole : 0;
  return ratio_interval(ratio, share, ratio_variance(ratio, parts));
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
  struct view_share share = share_of(&ratio, parts);
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
  struct view_share share = share_of(&ratio, parts);
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

/* For any input, the ends stay within 0 and 1 and around the share. */
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
    struct view_share share = share_of(&ratio, parts);
    assert_true(0 <= share.low && share.low <= share.share + 1e-12);
    assert_true(share.share <= share.high + 1e-12 && share.high <= 1);
    assert_true(!ratio.is_grouped || (ratio.df >= 1 && ratio.df <= count));
  }
}

/* 80 samples of 10; 100 of the kernel's, and 100 that nothing could sample.  So 90 trials for 900,
   and by hand for 200 of 1000: q = 2/9, Wilson 0.148713 to 0.318473, times 0.9. */
static void time_without_samples_scales_an_interval_and_raises_its_end(void **state) {
  static const struct groups one_board = {.kind = GROUPS_TIMES, .count = 1};
  const struct evidence evidence = {800, 8000};
  const struct ratio_whole whole = {
      .groups = &one_board, .weight = 1000, .unsampled = 100, .evidence = &evidence};
  struct ratio ratio;
  (void)state;
  ratio_init_whole(&ratio, &whole);
  assert_near(ratio.trials, 90, 1e-9);
  struct view_share share = ratio_interval(&ratio, 0.2, 0);
  assert_near(share.share, 0.2, 1e-12);
  assert_near(share.low, 0.133842, 2e-6);
  assert_near(share.high, 0.286625, 2e-6);
  ratio_raise(&share, ratio_reach(&ratio, 0.1, 0));
  assert_near(share.low, 0.133842, 2e-6);
  assert_near(share.high, 0.386625, 2e-6);
  share = ratio_told(&ratio, 0.1, 0);
  assert_true(share.low == 0.1 && share.high == 0.1);
  ratio_raise(&share, 2);
  assert_true(share.high == 1);
}

static void all_of_a_whole_may_be_unsampled(void **state) {
  static const struct groups none = {.kind = GROUPS_NONE};
  const struct evidence evidence = {0, 0};
  const struct ratio_whole whole = {
      .groups = &none, .weight = 1000, .unsampled = 2000, .evidence = &evidence};
  struct ratio ratio;
  (void)state;
  ratio_init_whole(&ratio, &whole);
  struct view_share share = ratio_interval(&ratio, 0, 0);
  assert_true(share.low == 0 && share.high == 1);
}

/* [unsampled] of five boards is itself uncertain: its upper end is added. */
static void of_boards_the_reach_of_unsampled_time_is_its_upper_end(void **state) {
  static const uint64_t wholes[GROUPS_MAX] = {1000, 1000, 1000, 1000, 1000};
  static const uint64_t dark[GROUPS_MAX] = {50, 100, 150, 80, 120};
  struct ratio ratio;
  (void)state;
  ratio_init(&ratio, GROUPS_BOARDS, 5, wholes, 5000);
  double variance = ratio_variance(&ratio, dark);
  assert_near(variance, (2500. + 0 + 2500 + 400 + 400) * 1e-6 / 4 / 5, 1e-12);
  struct view_share told = ratio_told(&ratio, 0.1, variance);
  assert_true(told.low < 0.07 && told.high > 0.14);
  assert_near(ratio_reach(&ratio, 0.1, variance), told.high, 1e-12);
}

/* 10 % of 10 000 samples on two boards, 5 and 15: the boards are too few; of 20 samples these are.
 */
static void few_boards_are_another_thing_than_few_samples(void **state) {
  static const uint64_t wholes[GROUPS_MAX] = {5000, 5000};
  static const uint64_t parts[GROUPS_MAX] = {250, 750};
  struct ratio ratio;
  (void)state;
  ratio_init(&ratio, GROUPS_BOARDS, 2, wholes, 10000);
  double variance = ratio_variance(&ratio, parts);
  assert_int_equal(ratio_lack(&ratio, 0.1, variance), RATIO_FEW_BOARDS);
  assert_int_equal(ratio_lack(&ratio, 0.1, 0), RATIO_ENOUGH);
  ratio_init(&ratio, GROUPS_BOARDS, 2, wholes, 20);
  assert_int_equal(ratio_lack(&ratio, 0.1, variance), RATIO_FEW_SAMPLES);
}

static void intervals_of_boards_are_about_boards_like_these(void **state) {
  const struct view_basis boards = {"boards", 2}, groups = {"board groups", 32};
  const struct view_basis samples = {"samples", 0}, times = {"stretches of time", 8};
  (void)state;
  assert_string_equal(ratio_scope(&boards), "fleet");
  assert_string_equal(ratio_scope(&groups), "fleet");
  assert_string_equal(ratio_scope(&samples), "these");
  assert_string_equal(ratio_scope(&times), "these");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_boards_are_a_mean_and_its_error),
      cmocka_unit_test(a_board_with_most_of_the_load_leaves_few_degrees_of_freedom),
      cmocka_unit_test(no_interval_is_narrower_than_that_of_the_samples),
      cmocka_unit_test(few_stretches_of_time_tell_nothing),
      cmocka_unit_test(ends_stay_within_0_and_1),
      cmocka_unit_test(time_without_samples_scales_an_interval_and_raises_its_end),
      cmocka_unit_test(all_of_a_whole_may_be_unsampled),
      cmocka_unit_test(of_boards_the_reach_of_unsampled_time_is_its_upper_end),
      cmocka_unit_test(few_boards_are_another_thing_than_few_samples),
      cmocka_unit_test(intervals_of_boards_are_about_boards_like_these),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
