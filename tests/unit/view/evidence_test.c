/* SPDX-License-Identifier: Apache-2.0 */
/* Effective samples of different weights, and that intervals based on them contain the truth about
   as often as claimed. */
#include "view/evidence.h"

#include "common/arena.h"
#include "view/interval.h"
#include "view/tree_builder.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_near(double value, double wanted, double tolerance) {
  if (!(fabs(value - wanted) <= tolerance)) fail_msg("%.12f is not %.12f", value, wanted);
}

static void samples_of_one_weight_are_worth_their_count(void **state) {
  (void)state;
  srand(3);
  for (uint64_t weight = 1; weight < 100000000000; weight *= 7) {
    struct evidence evidence = {0, 0};
    uint64_t sum = 0;
    for (int i = 0; i < 1000; i++) {
      uint64_t count = 1 + (uint64_t)rand() % 1000;
      evidence_add(&evidence, count, count * weight);
      sum += count;
    }
    assert_near(evidence_trials(&evidence) / (double)sum, 1, 1e-12);
  }
}

static void a_thousand_light_and_ten_heavy_ones_are_worth_twelve(void **state) {
  (void)state;
  struct evidence evidence = {0, 0}, one_by_one = {0, 0};
  evidence_add(&evidence, 1000, 1000);
  evidence_add(&evidence, 10, 10000);
  for (int i = 0; i < 1000; i++) evidence_add(&one_by_one, 1, 1);
  for (int i = 0; i < 10; i++) evidence_add(&one_by_one, 1, 1000);
  assert_near(evidence_trials(&evidence), 11000. * 11000 / (1000 + 10e6), 1e-9);
  assert_near(evidence_trials(&evidence), evidence_trials(&one_by_one), 1e-9);
}

static void varied_periods_take_about_a_hundredth(void **state) {
  (void)state;
  struct evidence evidence = {0, 0};
  srand(4);
  for (int i = 0; i < 10000; i++) evidence_add(&evidence, 1, 800 + (uint64_t)rand() % 400);
  assert_in_range((uint64_t)evidence_trials(&evidence), 9850, 9890);
}

static void nothing_is_worth_nothing_and_the_largest_is_finite(void **state) {
  (void)state;
  struct evidence evidence = {0, 0};
  assert_near(evidence_trials(&evidence), 0, 0);
  evidence_add(&evidence, 5, 0);
  assert_near(evidence_trials(&evidence), 0, 0);
  evidence_add(&evidence, 0, 7);
  assert_near(evidence_trials(&evidence), 0, 0);
  for (int i = 0; i < 100; i++) evidence_add(&evidence, 1, UINT64_MAX);
  assert_near(evidence_trials(&evidence), 100, 1e-9);
}

/* The number of a thousand runs with TRUTH in their interval, for LIGHT samples of weight one and
   HEAVY ones of WEIGHT each. RET_BY_COUNT: with intervals based on the plain number of samples. */
struct runs {
  unsigned light, heavy;
  uint64_t weight;
  double truth;
};

static unsigned covered_of(const struct runs *runs, unsigned *ret_by_count) {
  unsigned covered = 0;
  *ret_by_count = 0;
  for (unsigned run = 0; run < 4000; run++) {
    uint64_t hits[2] = {0, 0};
    for (unsigned i = 0; i < runs->light + runs->heavy; i++)
      hits[i >= runs->light] += rand() < runs->truth * RAND_MAX;
    struct evidence evidence = {0, 0};
    evidence_add(&evidence, hits[0], hits[0]);
    evidence_add(&evidence, runs->light - hits[0], runs->light - hits[0]);
    evidence_add(&evidence, hits[1], hits[1] * runs->weight);
    evidence_add(&evidence, runs->heavy - hits[1], (runs->heavy - hits[1]) * runs->weight);
    double share = (double)(hits[0] + hits[1] * runs->weight) / evidence.weight;
    struct view_share now = interval_wilson(share, evidence_trials(&evidence));
    struct view_share was = interval_wilson(share, runs->light + runs->heavy);
    covered += now.low <= runs->truth && runs->truth <= now.high;
    *ret_by_count += was.low <= runs->truth && runs->truth <= was.high;
  }
  return covered / 4;
}

static void intervals_cover_the_truth_also_when_the_rate_has_changed(void **state) {
  static const struct runs runs[] = {{500, 500, 100, 0.3},  {500, 500, 100, 0.05},
                                     {1000, 10, 1000, 0.3}, {5000, 50, 10000, 0.6},
                                     {900, 100, 20, 0.1},   {1000, 1000, 1, 0.3}};
  (void)state;
  srand(17);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    unsigned by_count, covered = covered_of(&runs[i], &by_count);
    print_message("  %u of 1 and %u of %u at %.2f: %u of 1000 (by their count: %u)\n",
                  runs[i].light, runs[i].heavy, (unsigned)runs[i].weight, runs[i].truth, covered,
                  by_count / 4);
    assert_in_range(covered, 920, 985); /* 924 is Wilson's figure for ten trials of 0.3 */
  }
}

/* Clock time has weight but no effective samples. */
static void a_tree_knows_what_its_samples_are_worth(void **state) {
  struct arena arena;
  struct tree_builder builder;
  struct view_tree tree;
  (void)state;
  arena_init(&arena, 1 << 20);
  assert_int_equal(tree_builder_init(&builder, &arena), 0);
  tree_builder_add(&builder, 0, 1000, 1000);
  tree_builder_add(&builder, 0, 10, 10000);
  tree_builder_add(&builder, 0, 0, 77777);
  assert_int_equal(tree_builder_finish(&builder, &arena, &tree), 0);
  assert_int_equal(tree.total_count, 1010);
  assert_int_equal(tree.total_weight, 88777);
  assert_near(evidence_trials(&tree.evidence), 12.1, 0.01);
  tree_builder_fini(&builder);
  arena_fini(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_of_one_weight_are_worth_their_count),
      cmocka_unit_test(a_thousand_light_and_ten_heavy_ones_are_worth_twelve),
      cmocka_unit_test(varied_periods_take_about_a_hundredth),
      cmocka_unit_test(nothing_is_worth_nothing_and_the_largest_is_finite),
      cmocka_unit_test(intervals_cover_the_truth_also_when_the_rate_has_changed),
      cmocka_unit_test(a_tree_knows_what_its_samples_are_worth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
