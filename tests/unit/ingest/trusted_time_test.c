/* SPDX-License-Identifier: Apache-2.0 */
/* What is deleted for its age is deleted on the word of two clocks, or of one that was steady for a
   day. */
#include "ingest/trusted_time.h"

#include "common/clock.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define MINUTE_NS (60 * NS_PER_SECOND)
#define DAY_NS (24 * 60 * MINUTE_NS)
#define YEAR_NS (365 * DAY_NS)
#define TRUTH_NS (1790000000 * NS_PER_SECOND) /* 2026-09-21 */

static struct trusted_time *new_time(void) {
  struct trusted_time *time = trusted_time_new();
  assert_non_null(time);
  return time;
}

/* Looks each minute for SPAN_NS, with a wall clock that is OFF_NS ahead. */
static struct trusted_now look_for(struct trusted_time *time, uint64_t boot_ns, uint64_t span_ns,
                                   int64_t off_ns) {
  struct trusted_now now = {TRUST_NOTHING, 0, 0, 0, 0};
  for (uint64_t at = 0; at <= span_ns; at += MINUTE_NS)
    now = trusted_time_look(time, TRUTH_NS + at + (uint64_t)off_ns, boot_ns + at);
  return now;
}

static void a_wall_clock_alone_counts_after_a_steady_day(void **state) {
  (void)state;
  struct trusted_time *time = new_time();
  assert_int_equal(look_for(time, MINUTE_NS, DAY_NS - MINUTE_NS, 0).basis, TRUST_NOTHING);
  struct trusted_now now = trusted_time_look(time, TRUTH_NS + DAY_NS, MINUTE_NS + DAY_NS);
  assert_int_equal(now.basis, TRUST_STEADY);
  assert_int_equal(now.now_ns, TRUTH_NS + DAY_NS);
  /* It jumps: another day. */
  now = trusted_time_look(time, TRUTH_NS + 42 * DAY_NS, 2 * MINUTE_NS + DAY_NS);
  assert_int_equal(now.basis, TRUST_NOTHING);
  assert_int_equal(now.now_ns, 0);
  trusted_time_free(time);
}

static void two_boards_hold_back_a_clock_that_is_ahead(void **state) {
  (void)state;
  struct trusted_time *time = new_time();
  trusted_time_hear(time, "a", TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "b", TRUTH_NS + 5 * NS_PER_SECOND, MINUTE_NS);
  struct trusted_now now =
      trusted_time_look(time, TRUTH_NS + 40 * DAY_NS + MINUTE_NS, 2 * MINUTE_NS);
  assert_int_equal(now.basis, TRUST_BEHIND);
  assert_int_equal(now.now_ns, TRUTH_NS + MINUTE_NS);
  assert_int_equal(now.ahead_ns, 40 * DAY_NS);
  assert_int_equal(now.boards, 2);
  trusted_time_free(time);
}

/* Offsets of the collector's clock and of one board's, in years; the rest of the boards are right.
 */
static void no_clock_alone_makes_data_old(void **state) {
  (void)state;
  static const int64_t years[] = {-10, -1, 0, 1, 10, 74, 100};
  static const unsigned boards[] = {0, 1, 2, 100};
  for (unsigned ours = 0; ours < 7; ours++)
    for (unsigned theirs = 0; theirs < 7; theirs++)
      for (unsigned fleet = 0; fleet < 4; fleet++) {
        struct trusted_time *time = new_time();
        for (unsigned i = 0; i < boards[fleet]; i++) {
          char name[32];
          int64_t off = i == 0 ? years[theirs] * (int64_t)YEAR_NS : 0;
          snprintf(name, sizeof name, "board-%u", i);
          trusted_time_hear(time, name, TRUTH_NS + (uint64_t)off, MINUTE_NS);
        }
        struct trusted_now now = look_for(time, MINUTE_NS, 0, years[ours] * (int64_t)YEAR_NS);
        if (now.now_ns > TRUTH_NS)
          fail_msg("%" PRIu64 " s too late: ours %d years, one of %u boards %d",
                   (now.now_ns - TRUTH_NS) / NS_PER_SECOND, (int)years[ours], boards[fleet],
                   (int)years[theirs]);
        if (boards[fleet] < 2) assert_int_equal(now.basis, TRUST_NOTHING);
        trusted_time_free(time);
      }
}

static void a_board_without_a_clock_is_no_witness(void **state) {
  (void)state;
  struct trusted_time *time = new_time();
  trusted_time_hear(time, "a", TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "b", 3600 * NS_PER_SECOND, MINUTE_NS); /* 1970 */
  assert_int_equal(trusted_time_look(time, TRUTH_NS, MINUTE_NS).boards, 1);
  /* Its clock is set. */
  trusted_time_hear(time, "b", TRUTH_NS + MINUTE_NS, 2 * MINUTE_NS);
  struct trusted_now now = trusted_time_look(time, TRUTH_NS + MINUTE_NS, 2 * MINUTE_NS);
  assert_int_equal(now.basis, TRUST_BOARDS);
  assert_int_equal(now.now_ns, TRUTH_NS + MINUTE_NS);
  trusted_time_free(time);
}

static void a_board_that_was_ahead_and_is_set_right_confirms_nothing_wrong(void **state) {
  (void)state;
  struct trusted_time *time = new_time();
  trusted_time_hear(time, "a", TRUTH_NS + YEAR_NS, MINUTE_NS);
  trusted_time_hear(time, "a", TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "b", TRUTH_NS + YEAR_NS, MINUTE_NS);
  assert_int_equal(trusted_time_look(time, TRUTH_NS + YEAR_NS, MINUTE_NS).now_ns, TRUTH_NS);
  trusted_time_free(time);
}

static void what_boards_said_holds_while_they_are_away(void **state) {
  (void)state;
  struct trusted_time *time = new_time();
  trusted_time_hear(time, "a", TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "b", TRUTH_NS, MINUTE_NS);
  struct trusted_now now = trusted_time_look(time, TRUTH_NS + 9 * DAY_NS, 3 * DAY_NS + MINUTE_NS);
  assert_int_equal(now.basis, TRUST_BEHIND);
  assert_int_equal(now.now_ns, TRUTH_NS + 3 * DAY_NS);
  trusted_time_free(time);
}

static void a_large_fleet_is_remembered_in_part(void **state) {
  (void)state;
  struct trusted_time *time = new_time();
  for (unsigned i = 0; i < 20000; i++) {
    char name[32];
    snprintf(name, sizeof name, "board-%u", i);
    trusted_time_hear(time, name, TRUTH_NS + i, MINUTE_NS + i);
  }
  struct trusted_now now = trusted_time_look(time, TRUTH_NS, MINUTE_NS);
  assert_in_range(now.boards, 900, 1024);
  assert_int_equal(now.now_ns, TRUTH_NS);
  trusted_time_free(time);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wall_clock_alone_counts_after_a_steady_day),
      cmocka_unit_test(two_boards_hold_back_a_clock_that_is_ahead),
      cmocka_unit_test(no_clock_alone_makes_data_old),
      cmocka_unit_test(a_board_without_a_clock_is_no_witness),
      cmocka_unit_test(a_board_that_was_ahead_and_is_set_right_confirms_nothing_wrong),
      cmocka_unit_test(what_boards_said_holds_while_they_are_away),
      cmocka_unit_test(a_large_fleet_is_remembered_in_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
