/* SPDX-License-Identifier: Apache-2.0 */
/* Windows are placed at their true time, whatever the board's clock. */
#include "ingest/placement.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define NOW_NS (1800000000 * NS_PER_SECOND)
#define HOUR_NS (3600 * NS_PER_SECOND)
#define DAY_NS (24 * HOUR_NS)
#define NOW_MS (NOW_NS / NS_PER_MS)
#define OUR_NS (77 * HOUR_NS) /* the collector's time since boot, at NOW_NS */

static struct hello hello_at(uint64_t boottime_ns, uint64_t walltime_ns) {
  return (struct hello){
      .boot_id = "this boot", .boottime_ns = boottime_ns, .walltime_ns = walltime_ns};
}

static struct placement learn(uint64_t boottime_ns, uint64_t walltime_ns) {
  struct placement placement = {0};
  struct hello hello = hello_at(boottime_ns, walltime_ns);
  placement_learn(&placement, &hello, NOW_NS, OUR_NS);
  return placement;
}

static void a_window_of_this_boot_is_placed_by_time_since_boot(void **state) {
  (void)state;
  struct placement placement = learn(5 * HOUR_NS, NOW_NS + NS_PER_SECOND);
  struct batch batch = {.boot_id = "this boot",
                        .start_boottime_ns = 3 * HOUR_NS,
                        .end_boottime_ns = 3 * HOUR_NS + 10 * NS_PER_SECOND,
                        .start_walltime_ns = 17,
                        .end_walltime_ns = 18};
  struct placed placed = placement_of(&placement, &batch, NOW_NS + HOUR_NS);
  assert_int_equal(placed.start_ms, NOW_MS - 2 * 3600 * 1000);
  assert_int_equal(placed.end_ms, placed.start_ms + 10 * 1000);
  assert_string_equal(placed.clock, "synced");
}

static void a_board_that_thinks_it_is_1970_is_estimated(void **state) {
  (void)state;
  struct placement placement = learn(HOUR_NS, HOUR_NS);
  struct batch batch = {
      .boot_id = "this boot", .start_boottime_ns = HOUR_NS, .end_boottime_ns = HOUR_NS};
  struct placed placed = placement_of(&placement, &batch, NOW_NS);
  assert_int_equal(placed.end_ms, NOW_MS);
  assert_string_equal(placed.clock, "estimated");
}

static void what_has_arrived_ends_by_now_and_lasts_a_millisecond(void **state) {
  (void)state;
  struct placement placement = learn(HOUR_NS, NOW_NS);
  uint64_t ahead_ns = HOUR_NS + 40 * NS_PER_MS; /* Hello took 40 ms */
  struct batch batch = {
      .boot_id = "this boot", .start_boottime_ns = ahead_ns, .end_boottime_ns = ahead_ns};
  struct placed placed = placement_of(&placement, &batch, NOW_NS);
  assert_int_equal(placed.end_ms, NOW_MS);
  assert_int_equal(placed.start_ms, NOW_MS - 1);
}

static void another_boot_is_placed_by_its_own_wall_clock_when_plausible(void **state) {
  (void)state;
  struct placement placement = learn(HOUR_NS, NOW_NS);
  struct batch batch = {.boot_id = "another",
                        .start_boottime_ns = HOUR_NS,
                        .end_boottime_ns = 2 * HOUR_NS,
                        .start_walltime_ns = NOW_NS - 50 * HOUR_NS,
                        .end_walltime_ns = NOW_NS - 49 * HOUR_NS};
  struct placed placed = placement_of(&placement, &batch, NOW_NS);
  assert_int_equal(placed.start_ms, NOW_MS - 50 * 3600 * 1000);
  assert_int_equal(placed.end_ms, NOW_MS - 49 * 3600 * 1000);
  assert_string_equal(placed.clock, "estimated");
}

static void another_boot_of_1970_is_placed_where_it_arrives(void **state) {
  (void)state;
  struct placement placement = learn(HOUR_NS, NOW_NS);
  struct batch batch = {.boot_id = "another",
                        .start_boottime_ns = HOUR_NS,
                        .end_boottime_ns = HOUR_NS + 10 * NS_PER_SECOND,
                        .start_walltime_ns = HOUR_NS,
                        .end_walltime_ns = HOUR_NS + 10 * NS_PER_SECOND};
  struct placed placed = placement_of(&placement, &batch, NOW_NS);
  assert_int_equal(placed.end_ms, NOW_MS);
  assert_int_equal(placed.start_ms, NOW_MS - 10 * 1000);
  assert_string_equal(placed.clock, "unknown");
}

static void nothing_is_placed_more_than_a_day_ahead(void **state) {
  (void)state;
  struct placement placement = learn(HOUR_NS, NOW_NS);
  struct batch batch = {.boot_id = "another",
                        .start_walltime_ns = NOW_NS + 25 * HOUR_NS,
                        .end_walltime_ns = NOW_NS + 25 * HOUR_NS};
  assert_string_equal(placement_of(&placement, &batch, NOW_NS).clock, "unknown");
  batch = (struct batch){
      .boot_id = "this boot", .start_boottime_ns = 27 * HOUR_NS, .end_boottime_ns = 27 * HOUR_NS};
  assert_int_equal(placement_of(&placement, &batch, NOW_NS).end_ms, NOW_MS);
}

static void a_boot_longer_than_time_itself_is_not_believed(void **state) {
  (void)state;
  struct placement placement = learn(NOW_NS + 1, NOW_NS);
  assert_string_equal(placement_clock(&placement), "unknown");
  placement = learn(UINT64_MAX, 0);
  assert_string_equal(placement_clock(&placement), "unknown");
}

static void a_ping_corrects_the_offset(void **state) {
  (void)state;
  struct placement placement = learn(HOUR_NS, HOUR_NS);
  struct ping ping = {.boottime_ns = 2 * HOUR_NS, .walltime_ns = NOW_NS + HOUR_NS + 7};
  uint64_t passed_ns = HOUR_NS + 5;
  placement_relearn(&placement, &ping, NOW_NS + passed_ns, OUR_NS + passed_ns);
  assert_string_equal(placement_clock(&placement), "synced");
  assert_int_equal(placement.offset_ns, NOW_NS + 5 - HOUR_NS);
}

#define MINUTE_NS (60 * NS_PER_SECOND)

/* A ping sent AFTER_NS after the board's Hello that took LATE_NS to arrive; the collector's clock
   was set by SET_NS. */
static void hear_set(struct placement *placement, uint64_t after_ns, uint64_t late_ns,
                     int64_t set_ns) {
  struct ping ping = {.boottime_ns = HOUR_NS + after_ns, .walltime_ns = NOW_NS + after_ns};
  uint64_t passed_ns = after_ns + late_ns;
  placement_relearn(placement, &ping, NOW_NS + passed_ns + (uint64_t)set_ns, OUR_NS + passed_ns);
}

static void hear(struct placement *placement, uint64_t after_ns, uint64_t late_ns) {
  hear_set(placement, after_ns, late_ns, 0);
}

static uint64_t error_ns(const struct placement *placement) {
  return placement->offset_ns - (NOW_NS - HOUR_NS);
}

static void pings_that_are_late_move_no_window(void **state) {
  (void)state;
  struct placement placement = learn(HOUR_NS, NOW_NS);
  for (uint64_t minute = 1; minute <= 10; minute++)
    hear(&placement, minute * MINUTE_NS, 30 * NS_PER_SECOND);
  assert_true(error_ns(&placement) < NS_PER_SECOND); /* 500 ppm of ten minutes are 0.3 s */
  assert_string_equal(placement_clock(&placement), "synced");
  hear(&placement, 11 * MINUTE_NS, 40 * NS_PER_MS);
  assert_int_equal(error_ns(&placement), 40 * NS_PER_MS);
}

static void a_hello_that_was_late_is_mended_by_a_ping(void **state) {
  (void)state;
  struct placement placement = learn(HOUR_NS - 20 * NS_PER_SECOND, NOW_NS - 20 * NS_PER_SECOND);
  assert_string_equal(placement_clock(&placement), "estimated");
  hear(&placement, MINUTE_NS, 0);
  assert_int_equal(error_ns(&placement), 0);
  assert_string_equal(placement_clock(&placement), "synced");
}

/* A crystal that is 200 ppm slow loses 17 s a day. */
static void clocks_that_drift_apart_are_followed(void **state) {
  (void)state;
  struct placement placement = learn(HOUR_NS, NOW_NS);
  for (uint64_t minute = 1; minute <= 24 * 60; minute++) {
    uint64_t passed_ns = minute * MINUTE_NS, lost_ns = passed_ns / 5000;
    struct ping ping = {.boottime_ns = HOUR_NS + passed_ns - lost_ns};
    placement_relearn(&placement, &ping, NOW_NS + passed_ns, OUR_NS + passed_ns);
    assert_int_equal(error_ns(&placement), lost_ns);
  }
}

static void a_clock_of_ours_that_is_set_is_followed_at_once(void **state) {
  static const int64_t seconds[] = {2, 60, 299, 360, 3600, -1, -60, -3600};
  (void)state;
  for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
    int64_t set_ns = seconds[i] * (int64_t)NS_PER_SECOND;
    struct placement placement = learn(HOUR_NS, NOW_NS);
    hear_set(&placement, MINUTE_NS, 0, set_ns);
    assert_int_equal((int64_t)error_ns(&placement), set_ns);
    hear_set(&placement, 2 * MINUTE_NS, 0, 0); /* and back */
    assert_int_equal((int64_t)error_ns(&placement), 0);
  }
}

static void a_late_ping_is_known_as_one_though_our_clock_was_set(void **state) {
  static const int64_t seconds[] = {2, 60, 299, -60};
  (void)state;
  for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
    int64_t set_ns = seconds[i] * (int64_t)NS_PER_SECOND;
    struct placement placement = learn(HOUR_NS, NOW_NS);
    hear_set(&placement, MINUTE_NS, 30 * NS_PER_SECOND, set_ns);
    assert_in_range(error_ns(&placement) - (uint64_t)set_ns, 0, NS_PER_SECOND / 10);
  }
}

/* Whatever the peer's numbers, a window ends after it begins, is no longer than a day, and lies
   between 2024 and tomorrow. */
static void a_clock_of_ours_that_is_set_moves_what_was_learnt_before(void **state) {
  (void)state;
  static const int64_t set_s[] = {3600, -3600, 40 * 86400, -40 * 86400, -1700000000};
  struct batch batch = {.boot_id = "this boot",
                        .start_boottime_ns = 90 * MINUTE_NS,
                        .end_boottime_ns = 91 * MINUTE_NS};
  for (unsigned i = 0; i < sizeof set_s / sizeof *set_s; i++) {
    uint64_t set_ns = (uint64_t)set_s[i] * NS_PER_SECOND;
    struct placement placement = learn(HOUR_NS, NOW_NS);
    placement_follow(&placement, NOW_NS + HOUR_NS + set_ns, OUR_NS + HOUR_NS);
    assert_int_equal(placement.offset_ns, NOW_NS - HOUR_NS + set_ns);
    placement_follow(&placement, NOW_NS + 2 * HOUR_NS, OUR_NS + 2 * HOUR_NS); /* and back */
    assert_int_equal(error_ns(&placement), 0);
    struct placed placed = placement_of(&placement, &batch, NOW_NS + 2 * HOUR_NS);
    assert_int_equal(placed.end_ms, NOW_MS + 31 * 60000);
  }
  struct placement placement = learn(HOUR_NS, NOW_NS);
  placement_follow(&placement, NOW_NS + HOUR_NS + NS_PER_SECOND, OUR_NS + HOUR_NS); /* slewed */
  assert_int_equal(error_ns(&placement), 0);
  /* The allowed drift of two clocks still counts from the last ping. */
  placement_follow(&placement, NOW_NS + 2 * HOUR_NS + DAY_NS, OUR_NS + HOUR_NS);
  assert_int_equal(placement.our_ns, OUR_NS);
}

static void no_numbers_make_an_impossible_window(void **state) {
  static const uint64_t numbers[] = {0,
                                     1,
                                     HOUR_NS,
                                     NOW_NS - 100 * HOUR_NS,
                                     NOW_NS - 1,
                                     NOW_NS,
                                     NOW_NS + 30 * HOUR_NS,
                                     INT64_MAX,
                                     UINT64_MAX - NOW_NS,
                                     UINT64_MAX - 1,
                                     UINT64_MAX};
  enum { COUNT = sizeof numbers / sizeof *numbers, CASES = COUNT * COUNT * COUNT * 4 };
  (void)state;
  for (size_t at = 0; at < CASES; at++) {
    struct placement placement = learn(numbers[at % COUNT], numbers[at / 2 % COUNT]);
    uint64_t a = numbers[at / COUNT % COUNT], b = numbers[at / COUNT / COUNT % COUNT];
    struct batch batch = {.boot_id = "this boot",
                          .start_boottime_ns = a,
                          .end_boottime_ns = b,
                          .start_walltime_ns = b,
                          .end_walltime_ns = a};
    if (at % 4 == 0) batch.boot_id[0] = 'x';
    struct placed placed = placement_of(&placement, &batch, NOW_NS);
    assert_true(placed.start_ms <= placed.end_ms);
    assert_true(placed.end_ms - placed.start_ms <= 24 * 3600 * 1000 + 1);
    assert_in_range(placed.end_ms, 1704067200000, NOW_MS);
  }
}

/* Three earlier boots: "first" got the time and ended 20 h ago, "second" and "third" never did; the
   present boot began 2 h ago. */
static const struct boot_time told[] = {
    {.boot_id = "first", .offset_ns = NOW_NS - 30 * HOUR_NS, .alive_ns = 10 * HOUR_NS},
    {.boot_id = "second", .alive_ns = 3 * HOUR_NS},
    {.boot_id = "third", .alive_ns = 1 * HOUR_NS},
};
static struct earlier_boot earlier[3];

static struct placed place_of(const char *boot, uint64_t boottime_ns, uint64_t walltime_ns) {
  struct placement placement = {0};
  struct hello hello = hello_at(2 * HOUR_NS, NOW_NS);
  struct batch batch = {.start_boottime_ns = boottime_ns,
                        .end_boottime_ns = boottime_ns + 10 * NS_PER_SECOND,
                        .start_walltime_ns = walltime_ns,
                        .end_walltime_ns = walltime_ns + 10 * NS_PER_SECOND};
  snprintf((char *)batch.boot_id, sizeof batch.boot_id, "%s", boot);
  hello.boots = told;
  hello.boot_count = 3;
  placement_learn(&placement, &hello, NOW_NS, OUR_NS);
  placement_earlier(&placement, &hello, NOW_NS, earlier);
  placement.earlier = earlier;
  placement.earlier_count = 3;
  return placement_of(&placement, &batch, NOW_NS);
}

static void an_earlier_boot_that_heard_the_time_is_placed_by_that(void **state) {
  static const uint64_t wall_clocks[] = {17, NOW_NS + 10 * 8766 * HOUR_NS, NOW_NS - 26 * HOUR_NS};
  (void)state;
  for (size_t i = 0; i < 3; i++) { /* 1970, ten years ahead, an hour back */
    struct placed placed = place_of("first", 5 * HOUR_NS, wall_clocks[i]);
    assert_int_equal(placed.start_ms, NOW_MS - 25 * 3600 * 1000);
    assert_int_equal(placed.end_ms, placed.start_ms + 10 * 1000);
    assert_string_equal(placed.clock, "estimated");
  }
}

static void boots_that_never_heard_the_time_are_placed_before_the_next_one(void **state) {
  (void)state;
  struct placed placed = place_of("third", HOUR_NS / 2, 17);
  assert_int_equal(placed.start_ms, NOW_MS - 2 * 3600 * 1000 - 1800 * 1000);
  assert_string_equal(placed.clock, "unknown");
  placed = place_of("second", 0, 17);
  assert_int_equal(placed.start_ms, NOW_MS - (2 + 1 + 3) * 3600 * 1000);
  assert_string_equal(placed.clock, "unknown");
}

static void a_wall_clock_is_believed_between_the_boots_before_and_behind(void **state) {
  (void)state;
  struct placed placed = place_of("second", HOUR_NS, NOW_NS - 10 * HOUR_NS);
  assert_int_equal(placed.start_ms, NOW_MS - 10 * 3600 * 1000);
  assert_string_equal(placed.clock, "estimated");
  placed = place_of("second", HOUR_NS, NOW_NS - 21 * HOUR_NS); /* the first had not ended */
  assert_int_equal(placed.start_ms, NOW_MS - 5 * 3600 * 1000);
  assert_string_equal(placed.clock, "unknown");
  placed = place_of("second", HOUR_NS, NOW_NS - HOUR_NS); /* the next ones had begun */
  assert_string_equal(placed.clock, "unknown");
}

static void a_boot_that_is_not_told_of_goes_by_its_wall_clock(void **state) {
  (void)state;
  struct placed placed = place_of("another", HOUR_NS, NOW_NS - 50 * HOUR_NS);
  assert_int_equal(placed.start_ms, NOW_MS - 50 * 3600 * 1000);
  assert_string_equal(placed.clock, "estimated");
  placed = place_of("another", HOUR_NS, 17);
  assert_int_equal(placed.end_ms, NOW_MS);
  assert_string_equal(placed.clock, "unknown");
}

/* A board says a time, then another DAYS later in each ping, to a collector of 1970. */
static void no_ping_moves_a_boards_day_though_our_clock_is_of_1970(void **state) {
  (void)state;
  struct placement placement = {0};
  struct hello hello = hello_at(HOUR_NS, NOW_NS);
  placement_learn(&placement, &hello, HOUR_NS, OUR_NS);
  for (uint64_t day = 1; day <= 100; day++) {
    struct ping ping = {.boottime_ns = HOUR_NS + day, .walltime_ns = NOW_NS + day * DAY_NS};
    placement_relearn(&placement, &ping, HOUR_NS + day, OUR_NS + day);
    uint64_t now_ns = placement_now(&placement, HOUR_NS + day, OUR_NS + day);
    assert_int_equal(now_ns, NOW_NS + day);
    struct batch batch = {
        .boot_id = "this boot", .start_boottime_ns = HOUR_NS, .end_boottime_ns = HOUR_NS + day};
    placement_follow(&placement, now_ns, OUR_NS + day);
    assert_in_range(placement_of(&placement, &batch, now_ns).end_ms, NOW_MS, NOW_MS + 1);
  }
}

static void a_board_of_1970_is_asked_again_and_one_of_2554_is_not_believed(void **state) {
  (void)state;
  static const uint64_t impossible_ns[] = {HOUR_NS, PLACEMENT_FAR_NS, UINT64_MAX};
  for (size_t i = 0; i < 3; i++) {
    struct placement placement = {0};
    struct hello hello = hello_at(HOUR_NS, impossible_ns[i]);
    placement_learn(&placement, &hello, 2 * HOUR_NS, OUR_NS);
    assert_int_equal(placement_now(&placement, 2 * HOUR_NS, OUR_NS), 2 * HOUR_NS);
    struct ping ping = {.boottime_ns = HOUR_NS + 1, .walltime_ns = NOW_NS};
    placement_relearn(&placement, &ping, 2 * HOUR_NS + 1, OUR_NS + 1);
    assert_int_equal(placement_now(&placement, 2 * HOUR_NS + 2, OUR_NS + 2), NOW_NS + 1);
  }
}

/* The last day before 2^64 ns: a day ahead of it is not a small number. */
static void the_end_of_time_does_not_wrap(void **state) {
  (void)state;
  struct placement placement = {0};
  uint64_t now_ns = UINT64_MAX - HOUR_NS;
  struct batch batch = {
      .boot_id = "another", .start_walltime_ns = NOW_NS, .end_walltime_ns = NOW_NS + HOUR_NS};
  struct placed placed = placement_of(&placement, &batch, now_ns);
  assert_string_equal(placed.clock, "estimated");
  assert_int_equal(placed.start_ms, NOW_MS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_earlier_boot_that_heard_the_time_is_placed_by_that),
      cmocka_unit_test(boots_that_never_heard_the_time_are_placed_before_the_next_one),
      cmocka_unit_test(a_wall_clock_is_believed_between_the_boots_before_and_behind),
      cmocka_unit_test(a_boot_that_is_not_told_of_goes_by_its_wall_clock),
      cmocka_unit_test(a_window_of_this_boot_is_placed_by_time_since_boot),
      cmocka_unit_test(a_board_that_thinks_it_is_1970_is_estimated),
      cmocka_unit_test(what_has_arrived_ends_by_now_and_lasts_a_millisecond),
      cmocka_unit_test(another_boot_is_placed_by_its_own_wall_clock_when_plausible),
      cmocka_unit_test(another_boot_of_1970_is_placed_where_it_arrives),
      cmocka_unit_test(nothing_is_placed_more_than_a_day_ahead),
      cmocka_unit_test(a_boot_longer_than_time_itself_is_not_believed),
      cmocka_unit_test(a_ping_corrects_the_offset),
      cmocka_unit_test(pings_that_are_late_move_no_window),
      cmocka_unit_test(a_hello_that_was_late_is_mended_by_a_ping),
      cmocka_unit_test(clocks_that_drift_apart_are_followed),
      cmocka_unit_test(a_clock_of_ours_that_is_set_is_followed_at_once),
      cmocka_unit_test(a_late_ping_is_known_as_one_though_our_clock_was_set),
      cmocka_unit_test(a_clock_of_ours_that_is_set_moves_what_was_learnt_before),
      cmocka_unit_test(no_numbers_make_an_impossible_window),
      cmocka_unit_test(no_ping_moves_a_boards_day_though_our_clock_is_of_1970),
      cmocka_unit_test(a_board_of_1970_is_asked_again_and_one_of_2554_is_not_believed),
      cmocka_unit_test(the_end_of_time_does_not_wrap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
