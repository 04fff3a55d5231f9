/* SPDX-License-Identifier: Apache-2.0 */
/* The variance of samples whose order is known by stretches of time, compared with sums computed by
   hand. */
#include "random_fixture.h"
#include "view/evidence.h"
#include "view/ratio.h"
#include "view/strata.h"
#include "view/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { STRETCH_MS = 10000, PART = 0, REST = 1 };

static void assert_near(double is, double wanted, double within) {
  if (!(fabs(is - wanted) <= within)) fail_msg("%.9g is not %.9g", is, wanted);
}

/* COUNT samples of 1 unit of weight each, times WEIGHT, in stretch AT; IN of them are the part's.
 */
static void add(struct groups *groups, unsigned at, uint64_t count, uint64_t in, uint64_t weight) {
  uint64_t start_ms = (UINT64_C(1000) + at) * STRETCH_MS;
  struct evidence samples = {0, 0};
  groups_turn(groups, "board", start_ms, start_ms + STRETCH_MS);
  assert_int_equal(groups_add(groups, PART, in * weight), 0);
  assert_int_equal(groups_add(groups, REST, (count - in) * weight), 0);
  evidence_add(&samples, count, count * weight);
  groups_add_evidence(groups, &samples);
}

static struct ratio ratio_of(const struct groups *groups, uint64_t told, uint64_t unsampled) {
  struct evidence all = {0, 0};
  struct ratio ratio;
  for (unsigned i = 0; i < groups->count; i++) evidence_join(&all, &groups->group[i].evidence);
  const struct ratio_whole whole = {.groups = groups,
                                    .weight = (uint64_t)all.weight + told + unsampled,
                                    .unsampled = unsampled,
                                    .evidence = &all};
  ratio_init_whole(&ratio, &whole);
  return ratio;
}

static double variance_of(const struct groups *groups, uint64_t told) {
  struct ratio ratio = ratio_of(groups, told, 0);
  uint64_t parts[GROUPS_MAX];
  groups_weights(groups, PART, parts);
  return ratio_variance(&ratio, parts);
}

/* Two stretches of 20 samples, 16 and 4 in the part: 20 x 0.8 x 0.2 twice, the border
   (0.8 + 0.2 - 2 x 0.16) / 2 = 0.34, times 40 / 39, over 40^2. */
static void two_stretches_add_up_with_the_border_between_them(void **state) {
  struct groups groups = {.count = 0};
  (void)state;
  add(&groups, 0, 20, 16, 1);
  add(&groups, 1, 20, 4, 1);
  assert_near(variance_of(&groups, 0), (3.2 + 3.2 + 0.34) * 40 / 39 / 1600, 1e-12);
  groups_fini(&groups);
}

/* 10 and 10 samples are a stratum, and so are 10, 10 and the last 5: 19 of 20, then 1 of 25.
   20 x 0.95 x 0.05 + 25 x 0.04 x 0.96 and the border (0.95 + 0.04 - 2 x 0.038) / 2 = 0.457. */
static void stretches_are_joined_until_they_have_enough_samples(void **state) {
  static const unsigned counts[] = {10, 10, 10, 10, 5}, in[] = {10, 9, 1, 0, 0};
  struct groups groups = {.count = 0};
  (void)state;
  for (unsigned i = 0; i < 5; i++) add(&groups, i, counts[i], in[i], 7);
  struct ratio ratio = ratio_of(&groups, 0, 0);
  assert_int_equal(ratio.strata.count, 2);
  assert_near(variance_of(&groups, 0), (0.95 + 0.96 + 0.457) * 45 / 44 / 2025, 1e-12);
  groups_fini(&groups);
}

/* 100 samples in the part, then 100 in the rest: one border.  0.5 x 200 / 199 / 200^2 is the
   variance of 19 900 samples of 0.5. */
static void a_phase_counts_at_its_ends_only(void **state) {
  struct groups groups = {.count = 0};
  (void)state;
  for (unsigned i = 0; i < 20; i++) add(&groups, i, 10, i < 10 ? 10 : 0, 3);
  double variance = variance_of(&groups, 0);
  assert_near(variance, 0.5 * 200 / 199 / 40000, 1e-12);
  struct ratio ratio = ratio_of(&groups, 0, 0);
  struct view_share share = ratio_interval(&ratio, 0.5, variance);
  assert_near(share.high - share.low, 2 * 1.96 * sqrt(0.25 / 19900), 1e-5);
  groups_fini(&groups);
}

/* Samples of weight 1 in the first stretch, of 4 in the second; half of each is in the part. 80 x 1
   x 0.25 + 80 x 16 x 0.25 = 340, the border 0.25 x (1 + 16) / 2 = 2.125, over 400^2; 400^2 / 1360 =
   117.6 effective samples, so times 117.6 / 116.6. */
static void heavy_samples_count_by_their_squares(void **state) {
  struct groups groups = {.count = 0};
  double trials = 160000. / 1360;
  (void)state;
  add(&groups, 0, 80, 40, 1);
  add(&groups, 1, 80, 40, 4);
  assert_near(variance_of(&groups, 0), (340 + 2.125) / 160000 * trials / (trials - 1), 1e-12);
  groups_fini(&groups);
}

/* 40 samples, and as much time again in the kernel: 80 trials.  The part's fractions are 0.4 and
   0.1 of 40 trials each, the border (0.4 + 0.1 - 0.08) / 2 = 0.21. */
static void trials_in_the_kernel_count_wherever_clocks_put_them(void **state) {
  struct groups groups = {.count = 0};
  (void)state;
  add(&groups, 0, 20, 16, 1);
  add(&groups, 1, 20, 4, 1);
  assert_near(variance_of(&groups, 40), (40 * 0.24 + 40 * 0.09 + 0.21) * 80 / 79 / 6400, 1e-12);
  groups_turn(&groups, "board", 1000 * STRETCH_MS, 1001 * STRETCH_MS);
  assert_int_equal(groups_add(&groups, 2, 40), 0); /* all of it stands in the first stretch */
  assert_near(variance_of(&groups, 40), (40 * 0.24 + 40 * 0.09 + 0.21) * 80 / 79 / 6400, 1e-12);
  groups_fini(&groups);
}

static void stretches_are_taken_in_order_of_time(void **state) {
  struct groups groups = {.count = 0}, mixed = {.count = 0};
  static const unsigned order[] = {3, 0, 2, 1}, in[] = {10, 9, 1, 0};
  (void)state;
  for (unsigned i = 0; i < 4; i++) add(&groups, i, 10, in[i], 1);
  for (unsigned i = 0; i < 4; i++) add(&mixed, order[i], 10, in[order[i]], 1);
  assert_near(variance_of(&mixed, 0), variance_of(&groups, 0), 1e-15);
  groups_fini(&groups);
  groups_fini(&mixed);
}

/* 2000 sets of 12 stretches of 8 independent samples, four strata: on average the binomial's. */
static void of_independent_samples_the_mean_is_the_binomials(void **state) {
  struct random random = {5};
  double sum = 0;
  (void)state;
  for (unsigned run = 0; run < 2000; run++) {
    struct groups groups = {.count = 0};
    for (unsigned i = 0; i < 12; i++) {
      unsigned in = 0;
      for (unsigned j = 0; j < 8; j++) in += random_uniform(&random) < 0.3;
      add(&groups, i, 8, in, 1);
    }
    sum += variance_of(&groups, 0);
    groups_fini(&groups);
  }
  assert_near(sum / 2000, 0.3 * 0.7 / 96, 0.3 * 0.7 / 96 * 0.02);
}

static void an_interval_is_never_wider_than_that_of_independent_samples(void **state) {
  struct groups groups = {.count = 0};
  (void)state;
  for (unsigned i = 0; i < 6; i++) add(&groups, i, 1, i % 2, 1); /* at odds with their neighbours */
  struct ratio ratio = ratio_of(&groups, 0, 0);
  double variance = variance_of(&groups, 0);
  assert_true(variance > 0.25 / 6);
  struct view_share share = ratio_interval(&ratio, 0.5, variance);
  struct view_share samples = ratio_interval(&ratio, 0.5, 0);
  assert_near(share.low, samples.low, 1e-12);
  assert_near(share.high, samples.high, 1e-12);
  groups_fini(&groups);
}

static void boards_are_no_strata(void **state) {
  struct groups groups = {.count = 0};
  (void)state;
  add(&groups, 0, 10, 8, 1);
  groups_turn(&groups, "other", 1001 * STRETCH_MS, 1002 * STRETCH_MS);
  assert_int_equal(groups_add(&groups, PART, 10), 0);
  struct ratio ratio = ratio_of(&groups, 0, 0);
  assert_int_equal(ratio.strata.count, 0);
  groups_fini(&groups);
}

static void merged_stretches_keep_their_samples(void **state) {
  struct groups groups = {.count = 0};
  struct evidence all = {0, 0};
  (void)state;
  for (unsigned i = 0; i < 3 * GROUPS_TIMES_MAX; i++) add(&groups, i, 5, i % 5, 2);
  assert_true(groups.count <= GROUPS_TIMES_MAX);
  for (unsigned i = 0; i < groups.count; i++) evidence_join(&all, &groups.group[i].evidence);
  assert_near(all.weight, 3 * GROUPS_TIMES_MAX * 10, 1e-9);
  assert_near(evidence_trials(&all), 3 * GROUPS_TIMES_MAX * 5, 1e-9);
  groups_fini(&groups);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_stretches_add_up_with_the_border_between_them),
      cmocka_unit_test(stretches_are_joined_until_they_have_enough_samples),
      cmocka_unit_test(a_phase_counts_at_its_ends_only),
      cmocka_unit_test(heavy_samples_count_by_their_squares),
      cmocka_unit_test(trials_in_the_kernel_count_wherever_clocks_put_them),
      cmocka_unit_test(stretches_are_taken_in_order_of_time),
      cmocka_unit_test(of_independent_samples_the_mean_is_the_binomials),
      cmocka_unit_test(an_interval_is_never_wider_than_that_of_independent_samples),
      cmocka_unit_test(boards_are_no_strata),
      cmocka_unit_test(merged_stretches_keep_their_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
