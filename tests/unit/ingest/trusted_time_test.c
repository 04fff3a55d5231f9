/* SPDX-License-Identifier: Apache-2.0 */
/* Data is deleted for its age only if two clocks agree, or one was steady for a day. */
#include "ingest/trusted_time.h"

#include "common/clock.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define MINUTE_NS (60 * NS_PER_SECOND)
#define HOUR_NS (60 * MINUTE_NS)
#define DAY_NS (24 * HOUR_NS)
#define YEAR_NS (365 * DAY_NS)
#define TRUTH_NS (1790000000 * NS_PER_SECOND) /* 2026-09-21 */

static struct trusted_time *new_time(void) {
  struct trusted_time *time = trusted_time_new();
  assert_non_null(time);
  return time;
}

/* Checks the time each minute for SPAN_NS, with a wall clock that is OFF_NS ahead. */
static struct trusted_now look_for(struct trusted_time *time, uint64_t boot_ns, uint64_t span_ns,
                                   int64_t off_ns) {
  struct trusted_now now = {0};
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
  /* It jumps to another day. */
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

/* Offsets of the collector's clock and of one board's clock, in years; the other boards are
 * right. */
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
  /* The board's clock is set. */
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

/* ---- over restarts ---- */

static const uint8_t this_boot[TRUST_BOOT_ID_BYTES] = "this boot", other_boot[] = "another boot...";

/* The next collector, with the state that OLD kept; OLD ends. PASSED_NS have passed since BOOT_NS
 * of the boot clock. */
static struct trusted_time *restart(struct trusted_time *old, const uint8_t *boot_id,
                                    uint64_t boot_ns) {
  struct trusted_kept kept;
  trusted_time_keep(old, &kept);
  trusted_time_free(old);
  struct trusted_time *time = new_time();
  trusted_time_resume(time, &kept, boot_id, boot_ns);
  return time;
}

static struct trusted_time *begin_boot(void) {
  static const struct trusted_kept none;
  struct trusted_time *time = new_time();
  trusted_time_resume(time, &none, this_boot, MINUTE_NS);
  return time;
}

static void a_restart_does_not_end_a_steady_day(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  assert_int_equal(look_for(time, MINUTE_NS, DAY_NS / 2, 0).basis, TRUST_NOTHING);
  time = restart(time, this_boot, DAY_NS / 2 + HOUR_NS);
  struct trusted_now now =
      trusted_time_look(time, TRUTH_NS + DAY_NS, MINUTE_NS + DAY_NS); /* it was down for hours */
  assert_int_equal(now.basis, TRUST_STEADY);
  assert_int_equal(now.steady_ns, DAY_NS);
  trusted_time_free(time);
}

static void a_clock_that_was_set_between_two_collectors_begins_anew(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  look_for(time, MINUTE_NS, 2 * DAY_NS, 0);
  time = restart(time, this_boot, 2 * DAY_NS + HOUR_NS);
  struct trusted_now now =
      trusted_time_look(time, TRUTH_NS + 42 * DAY_NS, 2 * DAY_NS + HOUR_NS + MINUTE_NS);
  assert_int_equal(now.basis, TRUST_NOTHING);
  assert_int_equal(now.steady_ns, 0);
  trusted_time_free(time);
}

static void another_boot_begins_anew(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  trusted_time_hear(time, "a", TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "b", TRUTH_NS, MINUTE_NS);
  look_for(time, MINUTE_NS, 2 * DAY_NS, 0);
  assert_int_not_equal(trusted_time_word(time).confirmed_ns, 0);
  time = restart(time, other_boot, 3 * DAY_NS);
  assert_int_equal(trusted_time_word(time).agreed_ns, 0);
  assert_int_equal(trusted_time_word(time).confirmed_ns, 0);
  assert_int_equal(trusted_time_look(time, TRUTH_NS + 2 * DAY_NS, 3 * DAY_NS).steady_ns, 0);
  trusted_time_free(time);
}

/* A file from the future, or a forged one, deletes nothing for a day. */
static void what_was_kept_and_cannot_be_begins_anew(void **state) {
  (void)state;
  static const struct trusted_kept odd[] = {
      {.boot_id = "this boot", .offset_ns = TRUTH_NS - 3 * DAY_NS, .steady_since_ns = UINT64_MAX},
      {.boot_id = "this boot", .offset_ns = UINT64_MAX, .latest_ns = UINT64_MAX},
      {.boot_id = "this boot", .agreed_ns = UINT64_MAX, .confirmed_ns = UINT64_MAX},
  };
  for (unsigned i = 0; i < 3; i++) {
    struct trusted_time *time = new_time();
    trusted_time_resume(time, &odd[i], this_boot, 3 * DAY_NS);
    assert_int_equal(trusted_time_look(time, TRUTH_NS, 3 * DAY_NS).now_ns, 0);
    assert_int_equal(look_for(time, 3 * DAY_NS, DAY_NS, 0).basis, TRUST_STEADY);
    trusted_time_free(time);
  }
}

static void little_is_written_while_nothing_changes(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  struct trusted_kept kept;
  unsigned writes = 0;
  for (uint64_t at = 0; at < 2 * DAY_NS; at += MINUTE_NS) {
    trusted_time_look(time, TRUTH_NS + at + at % 7, MINUTE_NS + at);
    writes += trusted_time_keep(time, &kept);
  }
  assert_in_range(writes, 2, 26); /* the first, and each hour of the second day */
  trusted_time_free(time);
}

/* ---- where data is placed ---- */

static uint64_t judge(struct trusted_time *time, uint64_t wall_ns, uint64_t boot_ns) {
  const struct clock_word word = trusted_time_word(time);
  return clock_judge_ns(&word, wall_ns, boot_ns);
}

static void hear_many(struct trusted_time *time, unsigned boards, uint64_t walltime_ns,
                      uint64_t boot_ns) {
  for (unsigned i = 0; i < boards; i++) {
    char name[32];
    snprintf(name, sizeof name, "board-%u", i);
    trusted_time_hear(time, name, walltime_ns, boot_ns);
  }
}

static void two_boards_place_what_comes_by_their_time(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  uint64_t wrong_ns = TRUTH_NS + 40 * DAY_NS;
  trusted_time_hear(time, "a", TRUTH_NS, MINUTE_NS);
  assert_int_equal(judge(time, wrong_ns, MINUTE_NS), wrong_ns);
  trusted_time_hear(time, "b", TRUTH_NS + NS_PER_SECOND, MINUTE_NS);
  assert_in_range(judge(time, wrong_ns, MINUTE_NS), TRUTH_NS, TRUTH_NS + NS_PER_SECOND);
  /* One board's clock jumps; then the other board alone has the agreed time. */
  trusted_time_hear(time, "a", TRUTH_NS + 70 * YEAR_NS, MINUTE_NS);
  assert_in_range(judge(time, wrong_ns, MINUTE_NS), TRUTH_NS, TRUTH_NS + NS_PER_SECOND);
  trusted_time_hear(time, "b", TRUTH_NS + 20 * YEAR_NS, MINUTE_NS);
  assert_int_equal(judge(time, wrong_ns, MINUTE_NS), wrong_ns);
  trusted_time_free(time);
}

static void a_confirmed_clock_is_believed_until_more_boards_say_otherwise(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  trusted_time_look(time, TRUTH_NS, MINUTE_NS);
  for (unsigned i = 0; i < 3; i++)
    trusted_time_hear(time, (const char *[]){"a", "b", "c"}[i], TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "a", TRUTH_NS - YEAR_NS, MINUTE_NS);
  trusted_time_hear(time, "b", TRUTH_NS - YEAR_NS, MINUTE_NS);
  assert_int_equal(judge(time, TRUTH_NS, MINUTE_NS), TRUTH_NS); /* with ours, two and two */
  trusted_time_hear(time, "c", TRUTH_NS - YEAR_NS, MINUTE_NS);
  assert_int_equal(judge(time, TRUTH_NS, MINUTE_NS), TRUTH_NS); /* for a moment, perhaps */
  trusted_time_look(time, TRUTH_NS + MINUTE_NS, 2 * MINUTE_NS);
  assert_int_equal(judge(time, TRUTH_NS + MINUTE_NS, 2 * MINUTE_NS), TRUTH_NS + MINUTE_NS);
  trusted_time_look(time, TRUTH_NS + 3 * MINUTE_NS, 4 * MINUTE_NS);
  assert_int_equal(judge(time, TRUTH_NS + 3 * MINUTE_NS, 4 * MINUTE_NS),
                   TRUTH_NS - YEAR_NS + 3 * MINUTE_NS);
  assert_int_equal(trusted_time_word(time).confirmed_ns, 0);
  time = restart(time, this_boot, 5 * MINUTE_NS);
  assert_int_equal(judge(time, TRUTH_NS + 4 * MINUTE_NS, 5 * MINUTE_NS),
                   TRUTH_NS - YEAR_NS + 4 * MINUTE_NS);
  trusted_time_free(time);
}

static void boards_of_one_switch_that_go_on_where_they_were_have_no_say(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  look_for(time, MINUTE_NS, DAY_NS + HOUR_NS, 0); /* trusted after a day and an hour */
  time = restart(time, other_boot, MINUTE_NS);    /* a day without power */
  uint64_t now_ns = TRUTH_NS + 2 * DAY_NS;
  hear_many(time, 9, TRUTH_NS + DAY_NS, 2 * HOUR_NS);
  assert_int_equal(judge(time, now_ns, 2 * HOUR_NS), now_ns);
  trusted_time_free(time);
}

static void one_board_agrees_with_nobody(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  trusted_time_look(time, TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "a", TRUTH_NS, MINUTE_NS);
  assert_int_equal(trusted_time_word(time).agreed_ns, 0);
  trusted_time_free(time);
}

static void as_many_clocks_as_are_of_our_mind_overrule_nothing(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  trusted_time_look(time, TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "c", TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "a", TRUTH_NS + YEAR_NS, MINUTE_NS);
  trusted_time_hear(time, "b", TRUTH_NS + YEAR_NS, MINUTE_NS);
  assert_int_equal(judge(time, TRUTH_NS, MINUTE_NS), TRUTH_NS); /* with the collector's, two and
                                                                   two */
  trusted_time_hear(time, "d", TRUTH_NS + YEAR_NS, MINUTE_NS);
  assert_int_equal(judge(time, TRUTH_NS, MINUTE_NS), TRUTH_NS + YEAR_NS);
  trusted_time_free(time);
}

static void two_minds_of_one_size_are_no_agreement(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  uint64_t wrong_ns = TRUTH_NS + 40 * DAY_NS;
  trusted_time_look(time, wrong_ns, MINUTE_NS);
  trusted_time_hear(time, "a", TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "liar", TRUTH_NS + 80 * YEAR_NS, MINUTE_NS);
  trusted_time_hear(time, "other", TRUTH_NS + 80 * YEAR_NS + HOUR_NS, MINUTE_NS);
  assert_int_equal(judge(time, wrong_ns, MINUTE_NS), wrong_ns);
  trusted_time_hear(time, "b", TRUTH_NS, MINUTE_NS); /* two agree, of four boards' clocks and the
                                                        collector's */
  assert_int_equal(judge(time, wrong_ns, MINUTE_NS), TRUTH_NS);
  trusted_time_free(time);
  for (unsigned order = 0; order < 2; order++) {
    static const char *names[] = {"a", "b", "c", "d"};
    time = begin_boot();
    for (unsigned i = 0; i < 4; i++)
      trusted_time_hear(time, names[i], TRUTH_NS + (i / 2 == order ? YEAR_NS : 0), MINUTE_NS);
    assert_int_equal(trusted_time_word(time).agreed_ns, 0); /* in any order */
    /* Ours counts as one. */
    trusted_time_look(time, TRUTH_NS, MINUTE_NS);
    assert_int_equal(trusted_time_word(time).agreed_ns, TRUTH_NS - MINUTE_NS);
    trusted_time_free(time);
  }
}

/* A virtual machine was paused, its time since boot too, and its wall clock is set right. */
static void clocks_of_long_ago_have_no_vote(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  uint64_t now_ns = TRUTH_NS + 8 * HOUR_NS, boot_ns = 17 * MINUTE_NS;
  trusted_time_look(time, TRUTH_NS, MINUTE_NS);
  hear_many(time, 50, TRUTH_NS, MINUTE_NS);
  trusted_time_look(time, now_ns, boot_ns);
  assert_int_not_equal(judge(time, now_ns, boot_ns), now_ns); /* none is back */
  trusted_time_hear(time, "a", now_ns, boot_ns);
  trusted_time_hear(time, "b", now_ns, boot_ns);
  assert_int_equal(judge(time, now_ns, boot_ns), now_ns);
  assert_int_equal(trusted_time_look(time, now_ns, boot_ns).now_ns, now_ns);
  trusted_time_free(time);
}

static void a_revoked_board_has_no_vote(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  uint64_t wrong_ns = TRUTH_NS + 40 * DAY_NS, lie_ns = TRUTH_NS + YEAR_NS;
  trusted_time_look(time, wrong_ns, MINUTE_NS);
  for (unsigned i = 0; i < 5; i++)
    trusted_time_hear(time, (const char *[]){"x", "y", "z", "a", "b"}[i], i < 3 ? lie_ns : TRUTH_NS,
                      MINUTE_NS);
  assert_int_equal(judge(time, wrong_ns, MINUTE_NS), lie_ns);
  trusted_time_forget(time, "nobody");
  trusted_time_forget(time, "x");
  trusted_time_forget(time, "y");
  assert_int_equal(judge(time, wrong_ns, MINUTE_NS), TRUTH_NS);
  assert_int_equal(trusted_time_look(time, wrong_ns, MINUTE_NS).now_ns, TRUTH_NS);
  /* No board is left of those who agreed. */
  trusted_time_forget(time, "a");
  trusted_time_forget(time, "b");
  trusted_time_forget(time, "z");
  assert_int_equal(judge(time, wrong_ns, MINUTE_NS), wrong_ns);
  assert_int_equal(trusted_time_look(time, wrong_ns, MINUTE_NS).boards, 0);
  trusted_time_free(time);
}

/* A steady wall clock was a year ahead for a day, with no board, and is right since. */
static void a_last_trusted_time_that_was_wrong_silences_no_two_boards(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  look_for(time, MINUTE_NS, DAY_NS + HOUR_NS, YEAR_NS);
  time = restart(time, other_boot, MINUTE_NS);
  uint64_t now_ns = TRUTH_NS + 2 * DAY_NS;
  trusted_time_look(time, now_ns, 2 * HOUR_NS);
  trusted_time_hear(time, "a", now_ns, 2 * HOUR_NS);
  assert_int_equal(trusted_time_look(time, now_ns, 2 * HOUR_NS).voiceless, 1);
  trusted_time_hear(time, "b", now_ns, 2 * HOUR_NS);
  struct trusted_now now = trusted_time_look(time, now_ns, 2 * HOUR_NS);
  assert_int_equal(now.voiceless, 0);
  assert_int_equal(trusted_time_word(time).agreed_ns, now_ns - 2 * HOUR_NS);
  /* It is not kept. */
  time = restart(time, other_boot, MINUTE_NS);
  hear_many(time, 2, now_ns + 2 * HOUR_NS, 2 * HOUR_NS);
  assert_int_equal(trusted_time_look(time, now_ns + YEAR_NS, 2 * HOUR_NS).voiceless, 0);
  trusted_time_free(time);
}

static void two_liars_of_many_delete_nothing(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  uint64_t wrong_ns = TRUTH_NS + 40 * DAY_NS;
  trusted_time_hear(time, "liar", TRUTH_NS + 70 * YEAR_NS, MINUTE_NS);
  trusted_time_hear(time, "other", TRUTH_NS + 70 * YEAR_NS, MINUTE_NS);
  hear_many(time, 100, TRUTH_NS, MINUTE_NS);
  struct trusted_now now = trusted_time_look(time, wrong_ns, MINUTE_NS);
  assert_int_equal(now.basis, TRUST_BEHIND);
  assert_int_equal(now.now_ns, TRUTH_NS);
  trusted_time_free(time);
}

/* Only the wait tells when the agreement was computed. */
static void many_clocks_are_compared_once_a_second(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  hear_many(time, 2, TRUTH_NS, MINUTE_NS);
  time = restart(time, other_boot, MINUTE_NS);
  for (unsigned i = 0; i < 20; i++)
    trusted_time_hear(time, (char[]){(char)('a' + i), 0}, TRUTH_NS + i * YEAR_NS, MINUTE_NS);
  trusted_time_hear(time, "b", TRUTH_NS, MINUTE_NS);
  uint64_t next_ns = MINUTE_NS + NS_PER_SECOND, wrong_ns = TRUTH_NS + DAY_NS;
  assert_true(trusted_time_is_early(time, TRUTH_NS, wrong_ns, next_ns - 1));
  assert_false(trusted_time_is_early(time, TRUTH_NS, wrong_ns, next_ns));
  trusted_time_free(time);
}

static void after_a_boot_a_board_waits_until_another_has_said_the_time(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  uint64_t wrong_ns = TRUTH_NS + 40 * DAY_NS;
  assert_false(trusted_time_is_early(time, TRUTH_NS, wrong_ns, MINUTE_NS)); /* none agreed yet */
  trusted_time_hear(time, "a", TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "b", TRUTH_NS, MINUTE_NS);
  time = restart(time, other_boot, MINUTE_NS);
  trusted_time_hear(time, "a", TRUTH_NS, MINUTE_NS);
  assert_true(trusted_time_is_early(time, TRUTH_NS, wrong_ns, MINUTE_NS));
  assert_false(trusted_time_is_early(time, wrong_ns, wrong_ns, MINUTE_NS)); /* it is of one mind */
  assert_false(trusted_time_is_early(time, HOUR_NS, wrong_ns, MINUTE_NS));  /* of 1970 */
  trusted_time_hear(time, "c", TRUTH_NS + YEAR_NS, MINUTE_NS); /* two, and no agreement */
  trusted_time_hear(time, "d", TRUTH_NS + YEAR_NS, MINUTE_NS); /* two liars who are first */
  assert_true(trusted_time_is_early(time, TRUTH_NS, wrong_ns, MINUTE_NS));
  trusted_time_hear(time, "b", TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "e", TRUTH_NS, MINUTE_NS);
  assert_false(trusted_time_is_early(time, TRUTH_NS, wrong_ns, MINUTE_NS));
  assert_true(trusted_time_is_early(time, TRUTH_NS + YEAR_NS, wrong_ns, MINUTE_NS));
  assert_false(trusted_time_is_early(time, TRUTH_NS + YEAR_NS, wrong_ns, 3 * MINUTE_NS));
  trusted_time_free(time);
}

static void a_wall_clock_before_2024_deletes_nothing(void **state) {
  (void)state;
  struct trusted_time *time = begin_boot();
  assert_int_equal(look_for(time, MINUTE_NS, 2 * DAY_NS, -(int64_t)(50 * YEAR_NS)).now_ns, 0);
  trusted_time_hear(time, "a", TRUTH_NS, MINUTE_NS);
  trusted_time_hear(time, "b", TRUTH_NS, MINUTE_NS);
  assert_int_equal(trusted_time_look(time, 60 * DAY_NS, 3 * DAY_NS).now_ns, 0);
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
      cmocka_unit_test(a_restart_does_not_end_a_steady_day),
      cmocka_unit_test(a_clock_that_was_set_between_two_collectors_begins_anew),
      cmocka_unit_test(another_boot_begins_anew),
      cmocka_unit_test(what_was_kept_and_cannot_be_begins_anew),
      cmocka_unit_test(little_is_written_while_nothing_changes),
      cmocka_unit_test(two_boards_place_what_comes_by_their_time),
      cmocka_unit_test(a_confirmed_clock_is_believed_until_more_boards_say_otherwise),
      cmocka_unit_test(boards_of_one_switch_that_go_on_where_they_were_have_no_say),
      cmocka_unit_test(one_board_agrees_with_nobody),
      cmocka_unit_test(as_many_clocks_as_are_of_our_mind_overrule_nothing),
      cmocka_unit_test(two_minds_of_one_size_are_no_agreement),
      cmocka_unit_test(clocks_of_long_ago_have_no_vote),
      cmocka_unit_test(a_revoked_board_has_no_vote),
      cmocka_unit_test(a_last_trusted_time_that_was_wrong_silences_no_two_boards),
      cmocka_unit_test(two_liars_of_many_delete_nothing),
      cmocka_unit_test(many_clocks_are_compared_once_a_second),
      cmocka_unit_test(after_a_boot_a_board_waits_until_another_has_said_the_time),
      cmocka_unit_test(a_wall_clock_before_2024_deletes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
