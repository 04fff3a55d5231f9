/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts by stretches of time of one board and of several, and by groups of many boards. */
#include "fleet_fixture.h"

#include "common/table.h"
#include "view/diff.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FUNCTIONS = 12 };

static struct random dice;
static struct fleet a, b;
static struct view_diff diff;

static int setup(void **state) {
  (void)state;
  dice = (struct random){11};
  fleet_init(&a, &dice, FUNCTIONS);
  fleet_init(&b, &dice, FUNCTIONS);
  a.builder.groups.is_of_times = b.builder.groups.is_of_times = true;
  return 0;
}

static int teardown(void **state) {
  (void)state;
  fleet_fini(&a);
  fleet_fini(&b);
  return 0;
}

static void start_again(void) {
  uint64_t kept = dice.state;
  teardown(NULL);
  setup(NULL);
  dice.state = kept;
}

static void compare(double a_units, double b_units) {
  const struct view_diff_options options = {
      .measure = VIEW_CPU, .of = VIEW_TOTAL, .units = {"board-hour", a_units, b_units}};
  assert_int_equal(view_diff(&a.tree, &b.tree, &options, &a.arena, &diff), 0);
}

static const struct view_diff_row *find(const char *name) {
  for (uint32_t i = 0; i < diff.count; i++)
    if (strcmp(diff.rows[i].name, name) == 0) return &diff.rows[i];
  fail_msg("no %s", name);
  return NULL;
}

/* Windows of BOARD: WINDOW_MS each from START_MS on, SAMPLES of which a part HOT is in f0. */
struct line {
  unsigned board, windows;
  uint64_t start_ms, window_ms, samples;
  double hot;
};

static void add_window(struct fleet *fleet, const struct line *line, unsigned at) {
  double shares[FUNCTIONS] = {line->hot};
  for (unsigned i = 1; i < FUNCTIONS; i++) shares[i] = (1 - line->hot) / (FUNCTIONS - 1);
  uint64_t start_ms = line->start_ms + at * line->window_ms;
  fleet_add(fleet, line->board, start_ms, start_ms + line->window_ms, line->samples, shares);
}

static void add_line(struct fleet *fleet, struct line line) {
  for (unsigned i = 0; i < line.windows; i++) add_window(fleet, &line, i);
}

/* For any length and start of the windows, and any number of windows in a stretch. */
static void a_constant_load_has_an_interval_near_zero(void **state) {
  static const uint64_t lengths_ms[] = {10000, 7300, 13700};
  (void)state;
  for (unsigned i = 0; i < 3; i++)
    for (unsigned windows = 40; windows < 200; windows += 13) {
      start_again();
      add_line(&a, (struct line){0, windows, 3000, lengths_ms[i], 990, 0.2});
      add_line(&b, (struct line){0, windows + 5, 7700, lengths_ms[i], 990, 0.2});
      fleet_end(&a), fleet_end(&b);
      compare(windows, windows + 5);
      assert_true(fabs(diff.whole.ratio - 1) < 1e-9);
      assert_true(diff.whole.low > 0.999 && diff.whole.high < 1.001);
      assert_true(diff.whole.detectable < 0.001);
      assert_int_equal(diff.whole.verdict, VIEW_SAME);
      assert_true(find("f1")->cpu.low > -0.025 && find("f1")->cpu.high < 0.025);
    }
}

/* One window of ten seconds a minute: stretches of another length contain none, or two. */
static void a_constant_load_of_few_windows_is_constant(void **state) {
  (void)state;
  for (unsigned i = 0; i < 58; i++) {
    add_window(&a, &(struct line){0, 1, 7000 + 60000 * i, 10000, 1000, 0.2}, 0);
    add_window(&b, &(struct line){0, 1, 31000 + 60000 * i, 10000, 1000, 0.2}, 0);
  }
  fleet_end(&a), fleet_end(&b);
  compare(1, 1);
  assert_true(diff.whole.low > 0.985 && diff.whole.high < 1.015);
}

/* A third of the windows have half as much again. */
static void a_load_that_varies_has_a_wide_interval(void **state) {
  (void)state;
  for (unsigned i = 0; i < 66; i++) {
    const struct line line = {0, 1, 3000 + 10000 * i, 10000, i % 6 < 2 ? 1500 : 1000, 0.2};
    add_window(&a, &line, 0), add_window(&b, &line, 0);
  }
  fleet_end(&a), fleet_end(&b);
  compare(1, 1);
  assert_true(diff.whole.low < 0.98 && diff.whole.high > 1.02);
  assert_true(diff.whole.low > 0.7 && diff.whole.high < 1.4);
}

/* f0 takes a constant time in each window, six times as much on b. a's other load varies, and so
   does the base of f0's increase. */
static void an_increase_is_as_uncertain_as_what_it_is_a_part_of(void **state) {
  (void)state;
  for (unsigned i = 0; i < 66; i++) {
    uint64_t others = i % 6 < 2 ? 16000 : 8000;
    const struct line of_a = {
        0, 1, 10000 * i, 10000, 2000 + others, 2000. / (2000 + (double)others)};
    const struct line of_b = {0, 1, 10000 * i, 10000, 22000, 12000. / 22000};
    add_window(&a, &of_a, 0), add_window(&b, &of_b, 0);
  }
  fleet_end(&a), fleet_end(&b);
  compare(1, 1);
  assert_true(find("f0")->cpu.difference > 0.7);
  assert_true(find("f0")->cpu.high - find("f0")->cpu.low > 0.05);
}

/* A board that did nothing for a while has a load that varies. */
static void time_without_windows_is_time_without_load(void **state) {
  (void)state;
  for (unsigned i = 0; i < 90; i++) {
    const struct line line = {0, 1, 3000 + 10000 * i, 10000, 1000, 0.2};
    if (i % 9 < 6) add_window(&a, &line, 0);
    add_window(&b, &line, 0);
  }
  fleet_end(&a), fleet_end(&b);
  compare(1, 1);
  assert_true(diff.whole.high / diff.whole.low > 1.05);
}

/* Four minutes of two boards of different programs, whose windows begin at different times. */
static void boards_that_differ_are_no_noise_of_these(void **state) {
  (void)state;
  for (unsigned windows = 24; windows <= 180; windows *= 2) {
    start_again();
    for (unsigned side = 0; side < 2; side++)
      for (unsigned board = 0; board < 3; board++)
        add_line(side == 0 ? &a : &b,
                 (struct line){board, windows, 3000 * board + 700 * side, 10000,
                               200000 * (board + 1), 0.05 + 0.3 * board});
    fleet_end(&a), fleet_end(&b);
    compare(1, 1);
    assert_true(find("f0")->total.low > -0.005 && find("f0")->total.high < 0.005);
    assert_true(find("f0")->cpu.low > -0.005 && find("f0")->cpu.high < 0.005);
  }
}

/* Boards that are up one after the other show the variation of each, and no more. */
static void boards_need_not_be_there_at_one_time(void **state) {
  (void)state;
  for (unsigned side = 0; side < 2; side++)
    for (unsigned board = 0; board < 2; board++)
      add_line(side == 0 ? &a : &b, (struct line){board, 120, 1200000 * board + 700 * side, 10000,
                                                  20000, 0.05 + 0.4 * board});
  fleet_end(&a), fleet_end(&b);
  compare(1, 1);
  assert_true(find("f0")->total.low > -0.005 && find("f0")->total.high < 0.005);
}

/* A board with a window or two has no mean of its own to be judged by. */
static void a_board_of_one_window_is_judged_by_all(void **state) {
  (void)state;
  for (unsigned side = 0; side < 2; side++) {
    struct fleet *fleet = side == 0 ? &a : &b;
    add_line(fleet, (struct line){0, 48, 0, 10000, 20000, 0.2});
    add_line(fleet, (struct line){1, 1, 200000, 10000, 20000, 0.6});
  }
  fleet_end(&a), fleet_end(&b);
  compare(1, 1);
  assert_true(find("f0")->total.low < -0.005 && find("f0")->total.high > 0.005);
  assert_true(find("f0")->total.low > -0.1 && find("f0")->total.high < 0.1);
}

/* f0 takes 3 points more on side b: of board 0 alone, and with OF_A and OF_B further boards a side,
   in which it takes MORE in addition and which are up for a part of the time, 1 / PART. */
static bool finds_change(unsigned of_a, unsigned of_b, double more, unsigned part) {
  enum { WINDOWS = 36 };
  const unsigned boards[2] = {1 + of_a, 1 + of_b};
  start_again();
  for (unsigned side = 0; side < 2; side++)
    for (unsigned board = 0; board < boards[side]; board++)
      for (unsigned i = 0; i < (board > 0 ? WINDOWS / part : WINDOWS); i++) {
        double hot = 0.2 + 0.03 * side + 0.03 * random_normal(&dice) + (board > 0 ? more : 0);
        uint64_t start_ms = 3300 * board + 10000 * i;
        add_window(side == 0 ? &a : &b,
                   &(struct line){board, 1, start_ms, 10000, 2000 * (1 + board), hot}, 0);
      }
  fleet_end(&a), fleet_end(&b);
  compare(boards[0], boards[1]);
  assert_int_equal(diff.scope, VIEW_THESE);
  return find("f0")->total.verdict == VIEW_CHANGED;
}

static void another_board_with_the_same_effect_weakens_no_verdict(void **state) {
  enum { ROUNDS = 40, UNLIKE = 4 };
  static const double more[UNLIKE] = {0, -0.1, 0.3, 0.5};
  unsigned alone = 0, of_a = 0, of_b = 0, of_both[UNLIKE] = {0}, of_part = 0;
  (void)state;
  for (unsigned i = 0; i < ROUNDS; i++) {
    alone += finds_change(0, 0, 0, 1);
    of_a += finds_change(1, 0, 0, 1), of_b += finds_change(0, 1, 0, 1);
    for (unsigned j = 0; j < UNLIKE; j++) of_both[j] += finds_change(1, 1, more[j], 1);
    of_part += finds_change(1, 1, 0.3, 3);
  }
  assert_true(alone >= ROUNDS * 6 / 10);
  assert_true(of_a >= alone && of_b >= alone && of_part >= alone);
  for (unsigned j = 0; j < UNLIKE; j++) assert_true(of_both[j] >= ROUNDS * 9 / 10);
}

/* In how many of 20 pairs f0, which takes 4 points more on side b in 60 stretches of WINDOW_MS, is
   called changed. */
static unsigned found_in_stretches(uint64_t window_ms) {
  unsigned found = 0;
  for (unsigned i = 0; i < 20; i++) {
    start_again();
    add_line(&a, (struct line){0, 60, 0, window_ms, 100, 0.2});
    add_line(&b, (struct line){0, 60, 0, window_ms, 100, 0.24});
    fleet_end(&a), fleet_end(&b);
    compare(1, 1);
    found += find("f0")->total.verdict == VIEW_CHANGED;
  }
  return found;
}

/* Phases of a second are unseen in three. */
static void a_short_run_is_no_surer_than_its_seconds(void **state) {
  (void)state;
  assert_true(found_in_stretches(50) <= 2);
  assert_true(found_in_stretches(1000) >= 15);
  assert_true(found_in_stretches(10000) >= 15);
}

/* f0 has a fifth of the time in which it does nothing, and a fifth in which it does much; other
   functions hardly vary, so stretches are independent on average. */
static void a_function_in_long_phases_is_short_by_itself(void **state) {
  static const double hot[] = {0.10, 0.04, 0.10, 0.16, 0.10};
  (void)state;
  for (unsigned side = 0; side < 2; side++)
    for (unsigned i = 0; i < 60; i++)
      add_window(side == 0 ? &a : &b,
                 &(struct line){0, 1, i * 1000, 1000, 600, hot[i / 12] + 0.04 * side}, 0);
  fleet_end(&a), fleet_end(&b);
  compare(1, 1);
  assert_true(diff.basis.a.units >= 12);
  assert_int_equal(find("f0")->total.verdict, VIEW_UNCLEAR);
  assert_int_equal(find("f0")->total.doubt, VIEW_SHORT);
  assert_true(isnan(find("f0")->total.low) && isinf(find("f0")->total.detectable));
  unsigned others = 0;
  for (uint32_t i = 0; i < diff.count; i++) others += diff.rows[i].total.doubt != VIEW_SHORT;
  assert_true(others >= FUNCTIONS * 2 / 3);
}

/* Where a run's only function has all of its time, nothing of its share varies. */
static void what_has_all_of_the_time_is_never_short(void **state) {
  (void)state;
  for (unsigned side = 0; side < 2; side++)
    for (unsigned i = 0; i < 60; i++)
      add_window(side == 0 ? &a : &b,
                 &(struct line){0, 1, i * 1000, 1000, 500 + 100 * side + 37 * (i / 9 % 3), 1}, 0);
  fleet_end(&a), fleet_end(&b);
  const struct view_diff_options options = {
      .measure = VIEW_CPU, .of = VIEW_TOTAL, .units = {"run", 1, 1}, .a_runs = 1, .b_runs = 1};
  assert_int_equal(view_diff(&a.tree, &b.tree, &options, &a.arena, &diff), 0);
  assert_int_equal(diff.whole.verdict, VIEW_CHANGED);
  assert_int_equal(find("f0")->cpu.verdict, VIEW_CHANGED);
  assert_true(isfinite(find("f0")->cpu.low) && isfinite(find("f0")->cpu.detectable));
  assert_int_not_equal(find("f0")->total.doubt, VIEW_SHORT);
  assert_true(isfinite(find("f0")->total.detectable));
}

/* f0 has 20 % of the time, and 0.8 points more or less for a fifth of it: samples alone would show
   those phases. */
static void phases_that_move_a_share_by_less_than_a_point_make_nothing_short(void **state) {
  static const double hot[] = {0.2, 0.192, 0.2, 0.208, 0.2};
  (void)state;
  for (unsigned side = 0; side < 2; side++)
    for (unsigned i = 0; i < 60; i++)
      add_window(side == 0 ? &a : &b,
                 &(struct line){0, 1, i * 1000, 1000, 50000, hot[i / 12] + 0.1 * side}, 0);
  fleet_end(&a), fleet_end(&b);
  compare(1, 1);
  assert_int_equal(find("f0")->total.verdict, VIEW_CHANGED);
  assert_true(find("f0")->total.low > 0.05 && find("f0")->total.high < 0.15);
}

/* Windows that have no end: nothing shows how shares or CPU time per hour vary. */
static void stretches_without_a_length_show_no_variation(void **state) {
  static const double shares[2][FUNCTIONS] = {{0.2, 0.8}, {0.4, 0.6}};
  (void)state;
  for (unsigned side = 0; side < 2; side++)
    for (unsigned i = 0; i < 60; i++)
      fleet_add(side == 0 ? &a : &b, 0, 1000 * i, 0, 500, shares[side]);
  fleet_end(&a), fleet_end(&b);
  compare(1, 1);
  assert_int_equal(diff.whole.verdict, VIEW_UNCLEAR);
  assert_int_equal(diff.whole.doubt, VIEW_SHORT);
  assert_true(isnan(diff.whole.low) && isinf(diff.whole.detectable));
  assert_int_equal(find("f1")->cpu.verdict, VIEW_UNCLEAR);
  assert_int_equal(find("f1")->cpu.doubt, VIEW_SHORT);
  assert_int_equal(find("f1")->total.doubt, VIEW_SHORT);
  assert_int_equal(diff.basis.a.units, 0);
}

/* Boards SHIFT to SHIFT + BOARDS - 1, which take as much each, in groups by the hash of their
   names.  Groups are of unlike size. */
static void add_fleet(struct fleet *fleet, unsigned shift, unsigned boards) {
  unsigned count[GROUPS_HASHED_MAX] = {0};
  fleet->builder.groups.is_of_times = false;
  for (unsigned i = shift; i < shift + boards; i++) {
    char name[16];
    add_line(fleet, (struct line){i, 1, 0, 3600000, 100000 + 500 * (i % 5), 0.2});
    snprintf(name, sizeof name, "board-%u", i);
    count[table_hash(name, strlen(name), 0) % GROUPS_HASHED_MAX]++;
  }
  fleet_end(fleet);
  assert_int_equal(fleet->tree.groups.kind, GROUPS_HASHED);
  for (unsigned i = 0; i < fleet->tree.groups.count; i++)
    fleet->tree.groups.group[i].boards = count[fleet->tree.groups.group[i].id];
}

static void groups_of_unlike_size_add_no_variance(void **state) {
  (void)state;
  add_fleet(&a, 0, 100), add_fleet(&b, 1000, 150);
  compare(100, 150);
  assert_int_equal(diff.scope, VIEW_FLEET);
  assert_true(fabs(diff.whole.ratio - 1) < 0.01);
  assert_true(diff.whole.low > 0.99 && diff.whole.high < 1.01);
  assert_true(find("f1")->cpu.low > -0.01 && find("f1")->cpu.high < 0.01);
}

/* A minute on each side has fifteen phases of four seconds. */
static void a_difference_says_which_phases_it_has_not_seen(void **state) {
  (void)state;
  add_line(&a, (struct line){0, 90, 0, 1000, 500, 0.2});
  add_line(&b, (struct line){0, 60, 0, 1000, 500, 0.2});
  fleet_end(&a), fleet_end(&b);
  compare(1, 1);
  assert_true(fabs(diff.basis.phase_seconds - 4) < 0.1);
  start_again();
  add_fleet(&a, 0, 100), add_fleet(&b, 1000, 100);
  compare(100, 100);
  assert_true(isnan(diff.basis.phase_seconds));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_constant_load_has_an_interval_near_zero),
      TEST(a_constant_load_of_few_windows_is_constant),
      TEST(a_load_that_varies_has_a_wide_interval),
      TEST(an_increase_is_as_uncertain_as_what_it_is_a_part_of),
      TEST(time_without_windows_is_time_without_load),
      TEST(boards_that_differ_are_no_noise_of_these),
      TEST(boards_need_not_be_there_at_one_time),
      TEST(a_board_of_one_window_is_judged_by_all),
      TEST(another_board_with_the_same_effect_weakens_no_verdict),
      TEST(a_short_run_is_no_surer_than_its_seconds),
      TEST(a_function_in_long_phases_is_short_by_itself),
      TEST(what_has_all_of_the_time_is_never_short),
      TEST(phases_that_move_a_share_by_less_than_a_point_make_nothing_short),
      TEST(stretches_without_a_length_show_no_variation),
      TEST(a_difference_says_which_phases_it_has_not_seen),
      TEST(groups_of_unlike_size_add_no_variance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
