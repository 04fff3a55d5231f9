/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated fleets: intervals cover the truth, and verdicts are right, as often as claimed.
   tests/bench/statistics.c does the same on a larger scale. The random numbers are the same in
   every run. The bounds allow for the chance variation of the number of runs (for 700 of 95 %: 93
   to 97). */
#include "fleet_fixture.h"

#include "view/diff.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 700 };

static struct random generator;

struct cell {
  double share, deviation;
  unsigned boards;
  double load_ratio; /* of the busiest board to the idlest */
};

static double percent_covered(const struct cell *cell) {
  unsigned covered = 0;
  for (unsigned run = 0; run < RUNS; run++) {
    struct fleet fleet;
    fleet_init(&fleet, &generator, 2);
    for (unsigned board = 0; board < cell->boards; board++) {
      double own = random_beta(&generator, cell->share, cell->deviation);
      double load = pow(cell->load_ratio, -random_uniform(&generator));
      const double parts[] = {own, 1 - own};
      fleet_add(&fleet, board, 0, 10000, (uint64_t)(FLEET_HOUR * load), parts);
    }
    fleet_end(&fleet);
    struct view_share seen = fleet_share(&fleet);
    assert_true(0 <= seen.low && seen.low <= seen.share && seen.share <= seen.high);
    assert_true(seen.high <= 1);
    covered += seen.low <= cell->share && cell->share <= seen.high;
    fleet_fini(&fleet);
  }
  return 100. * covered / RUNS;
}

static void intervals_of_boards_that_differ_cover_the_truth(void **state) {
  static const struct cell cells[] = {{0.30, 0.02, 1, 1},  {0.30, 0.02, 2, 1},  {0.10, 0.02, 3, 1},
                                      {0.30, 0.02, 5, 1},  {0.02, 0.01, 10, 1}, {0.60, 0.05, 20, 1},
                                      {0.30, 0.02, 5, 20}, {0.10, 0.02, 10, 20}};
  (void)state;
  for (unsigned i = 0; i < sizeof cells / sizeof *cells; i++) {
    struct cell cell = cells[i];
    if (cell.boards == 1) cell.deviation = 0; /* nothing can show it */
    double covered = percent_covered(&cell);
    if (covered < 93 || covered > 97.5)
      fail_msg("%u boards of %g: %g %%", cell.boards, cell.share, covered);
  }
}

/* Wider than 95 % need be: never narrower than that of the samples. */
static void intervals_of_boards_that_are_alike_cover_it_too(void **state) {
  static const struct cell cells[] = {{0.02, 0, 2, 1}, {0.30, 0, 5, 1}, {0.10, 0, 10, 20}};
  (void)state;
  for (unsigned i = 0; i < sizeof cells / sizeof *cells; i++)
    assert_true(percent_covered(&cells[i]) >= 94);
}

/* 100 boards: 32 groups of them. */
static void intervals_of_groups_of_boards_cover_it(void **state) {
  static const struct cell cell = {0.30, 0.05, 100, 1};
  (void)state;
  double covered = percent_covered(&cell);
  assert_true(93 <= covered && covered <= 97);
}

/* A program in phases of ten seconds on average, for half an hour: the interval covers its share in
   that time, not its share at other times. */
static void one_boards_own_share_is_covered_whatever_its_phases(void **state) {
  unsigned covered = 0, runs = 300;
  (void)state;
  for (unsigned run = 0; run < runs; run++) {
    struct fleet fleet;
    bool is_busy = random_uniform(&generator) < 0.5;
    double own = 0;
    fleet_init(&fleet, &generator, 2);
    for (unsigned second = 0; second < 1800; second += 2) {
      const double parts[] = {is_busy ? 0.4 : 0, is_busy ? 0.6 : 1};
      uint64_t start_ms = second / 10 * 10000;
      fleet_add(&fleet, 0, start_ms, start_ms + 10000, 198, parts);
      own += parts[0] * 2 / 1800;
      if (random_uniform(&generator) < 0.2) is_busy = !is_busy;
    }
    fleet_end(&fleet);
    struct view_share seen = fleet_share(&fleet);
    covered += seen.low <= own && own <= seen.high;
    assert_true(seen.high - seen.low < 0.005); /* 2 x 1.96 sqrt(0.2 x 0.8 / 178 200) is 0.0037 */
    fleet_fini(&fleet);
  }
  assert_true(covered >= runs * 93 / 100);
}

/* 20 % of a board's time, more on one and less on another, is unsampled; PART of it is f0's. The
   reference is the own share for one board, and the share of all boards like these for several. */
static double percent_covered_of_unsampled(unsigned boards, double part) {
  unsigned covered = 0;
  for (unsigned run = 0; run < RUNS; run++) {
    struct fleet fleet;
    double truth = 0.1 * 0.8 + part * 0.2;
    fleet_init(&fleet, &generator, 2);
    for (unsigned board = 0; board < boards; board++) {
      double own = random_beta(&generator, 0.1, 0.02);
      double dark = random_beta(&generator, 0.2, 0.1);
      const double parts[] = {own, 1 - own};
      fleet_add(&fleet, board, 0, 10000, (uint64_t)(FLEET_HOUR * (1 - dark)), parts);
      fleet_add_unsampled(&fleet, FLEET_HOUR * dark);
      if (boards == 1) truth = own * (1 - dark) + part * dark;
    }
    fleet_end(&fleet);
    struct view_share seen = fleet_share(&fleet);
    covered += seen.low <= truth && truth <= seen.high;
    fleet_fini(&fleet);
  }
  return 100. * covered / RUNS;
}

static void whoever_has_the_unsampled_time_is_covered(void **state) {
  static const unsigned fleets[] = {1, 2, 5, 20, 200};
  static const double parts[] = {0, 0.1, 0.5, 1};
  (void)state;
  for (unsigned i = 0; i < sizeof fleets / sizeof *fleets; i++)
    for (unsigned j = 0; j < sizeof parts / sizeof *parts; j++) {
      double covered = percent_covered_of_unsampled(fleets[i], parts[j]);
      if (covered < 93) fail_msg("%u boards, %g is its: %g %%", fleets[i], parts[j], covered);
    }
}

enum { FUNCTIONS = 30 };

struct comparison {
  unsigned boards;
  double change;
  bool is_paired;
};

static void draw_board(double *ret) {
  double left = 1;
  for (unsigned i = 0; i < FUNCTIONS - 1; i++) {
    double mean = i == 0 ? 0.2 : 0.025;
    ret[i] = random_beta(&generator, mean, mean / 10);
    left -= ret[i];
  }
  ret[FUNCTIONS - 1] = fmax(left, 0);
}

static void draw_sides(const struct comparison *comparison, struct fleet *a, struct fleet *b) {
  double shares[FUNCTIONS];
  fleet_init(a, &generator, FUNCTIONS);
  fleet_init(b, &generator, FUNCTIONS);
  for (unsigned i = 0; i < comparison->boards; i++) {
    draw_board(shares);
    fleet_add(a, i, 0, 10000, FLEET_HOUR, shares);
    if (!comparison->is_paired) draw_board(shares);
    shares[0] += comparison->change;
    shares[FUNCTIONS - 1] = fmax(shares[FUNCTIONS - 1] - comparison->change, 0);
    fleet_add(b, comparison->is_paired ? i : 1000 + i, 0, 10000, FLEET_HOUR, shares);
  }
  fleet_end(a);
  fleet_end(b);
}

static const struct view_diff_options by_self_share = {
    .measure = VIEW_SHARES, .of = VIEW_SELF, .units = {"hour", 1, 1}};

/* Percent of RUNS diffs that call anything changed, or f0. */
static double percent_changed(const struct comparison *comparison, unsigned runs, bool is_f0) {
  unsigned changed = 0;
  for (unsigned run = 0; run < runs; run++) {
    struct fleet a, b;
    struct view_diff diff;
    bool has_change = false;
    draw_sides(comparison, &a, &b);
    assert_int_equal(view_diff(&a.tree, &b.tree, &by_self_share, &a.arena, &diff), 0);
    for (uint32_t i = 0; i < diff.count; i++)
      if (!is_f0 || strcmp(diff.rows[i].name, "f0") == 0)
        has_change |= view_verdict_is_change(diff.rows[i].self.verdict);
    changed += has_change;
    fleet_fini(&a);
    fleet_fini(&b);
  }
  return 100. * changed / runs;
}

/* One in twenty diffs; for 200 at most 8 %. */
static void chance_seldom_changes_anything(void **state) {
  static const struct comparison others = {10, 0, false}, same = {10, 0, true}, few = {3, 0, false};
  (void)state;
  assert_true(percent_changed(&others, 200, false) <= 8);
  assert_true(percent_changed(&same, 200, false) <= 8);
  assert_true(percent_changed(&few, 200, false) <= 8);
}

static void five_points_more_are_found(void **state) {
  static const struct comparison others = {20, 0.05, false}, same = {10, 0.01, true};
  (void)state;
  assert_true(percent_changed(&others, 60, true) >= 95);
  assert_true(percent_changed(&same, 60, true) >= 95); /* one point, of boards that differ by two */
}

static int set_up(void **state) {
  (void)state;
  generator.state = 1;
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(intervals_of_boards_that_differ_cover_the_truth, set_up),
      cmocka_unit_test_setup(intervals_of_boards_that_are_alike_cover_it_too, set_up),
      cmocka_unit_test_setup(intervals_of_groups_of_boards_cover_it, set_up),
      cmocka_unit_test_setup(one_boards_own_share_is_covered_whatever_its_phases, set_up),
      cmocka_unit_test_setup(whoever_has_the_unsampled_time_is_covered, set_up),
      cmocka_unit_test_setup(chance_seldom_changes_anything, set_up),
      cmocka_unit_test_setup(five_points_more_are_found, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
