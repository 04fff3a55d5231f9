/* SPDX-License-Identifier: Apache-2.0 */
/* Which data is read from which of a day's files. */
#include "store/tier_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DAY (20000ULL * TIER_DAY_MS)
#define AT(hour, minute) (DAY + (uint64_t)(hour)*TIER_HOUR_MS + (uint64_t)(minute)*60000)

enum { SOURCE = 7 };

/* Windows of the whole day until 13:17, summed up as far as five minutes and hours are over. */
static struct tier_state usual_day(void) {
  struct tier_state state = {.day_ms = DAY,
                             .windows = {.is_there = true, .source = SOURCE},
                             .minutes = {.is_there = true},
                             .hours = {.is_there = true}};
  for (unsigned i = 0; i < 13 * 12 + 4; i++) state.windows.newest_id[i] = i + 1;
  for (unsigned i = 0; i < 13 * 12 + 3; i++) {
    state.minutes.has[i] = true;
    state.minutes.rolled_id[i] = i + 1;
  }
  for (unsigned i = 0; i < 13; i++) {
    state.hours.has[i] = state.hours.is_grouped[i] = true;
    state.hours.rolled_id[i] = (i + 1) * 12;
  }
  state.hours.is_grouped[TIER_HOURS_A_DAY] = true;
  return state;
}

static struct tier_plan plan_of(const struct tier_state *state, struct tier_wish wish) {
  static struct tier_plan plan;
  tier_plan_make(state, &wish, &plan);
  return plan;
}

static void assert_piece(const struct tier_plan *plan, enum day_kind kind, size_t at,
                         struct tier_piece expected) {
  assert_true(at < plan->count[kind]);
  const struct tier_piece *piece = &plan->pieces[kind][at];
  assert_int_equal(piece->tier, expected.tier);
  assert_int_equal(piece->from_ms, expected.from_ms);
  assert_int_equal(piece->to_ms, expected.to_ms);
  assert_int_equal(piece->after_id, expected.after_id);
  assert_int_equal(piece->is_grouped, expected.is_grouped);
}

static void a_whole_day_is_its_block_and_what_no_hour_has_yet(void **test) {
  (void)test;
  struct tier_state state = usual_day();
  struct tier_plan plan = plan_of(&state, (struct tier_wish){.from_ms = DAY, .to_ms = DAY * 2});
  assert_int_equal(plan.count[DAY_HOURS], 1);
  assert_piece(&plan, DAY_HOURS, 0,
               (struct tier_piece){.tier = TIER_DAY, .from_ms = DAY, .to_ms = AT(24, 0)});
  assert_int_equal(plan.count[DAY_MINUTES], 1);
  assert_piece(
      &plan, DAY_MINUTES, 0,
      (struct tier_piece){.tier = TIER_MINUTES, .from_ms = AT(13, 0), .to_ms = AT(13, 15)});
  assert_int_equal(plan.count[DAY_WINDOWS], 1);
  assert_piece(&plan, DAY_WINDOWS, 0,
               (struct tier_piece){.from_ms = AT(13, 15), .to_ms = AT(13, 20)});
}

static void the_edges_of_a_range_are_made_of_finer_blocks(void **test) {
  (void)test;
  struct tier_state state = usual_day();
  struct tier_plan plan =
      plan_of(&state, (struct tier_wish){.from_ms = AT(2, 52), .to_ms = AT(5, 7)});
  assert_int_equal(plan.count[DAY_HOURS], 1);
  assert_piece(&plan, DAY_HOURS, 0,
               (struct tier_piece){.tier = TIER_HOUR, .from_ms = AT(3, 0), .to_ms = AT(5, 0)});
  assert_int_equal(plan.count[DAY_MINUTES], 2);
  assert_piece(&plan, DAY_MINUTES, 0,
               (struct tier_piece){.tier = TIER_MINUTES, .from_ms = AT(2, 55), .to_ms = AT(3, 0)});
  assert_piece(&plan, DAY_MINUTES, 1,
               (struct tier_piece){.tier = TIER_MINUTES, .from_ms = AT(5, 0), .to_ms = AT(5, 5)});
  assert_int_equal(plan.count[DAY_WINDOWS], 2);
  assert_piece(&plan, DAY_WINDOWS, 0,
               (struct tier_piece){.from_ms = AT(2, 52), .to_ms = AT(2, 55)});
  assert_piece(&plan, DAY_WINDOWS, 1, (struct tier_piece){.from_ms = AT(5, 5), .to_ms = AT(5, 7)});
}

static void without_finer_files_an_edge_goes_where_its_middle_is(void **test) {
  (void)test;
  struct tier_state state = usual_day();
  state.windows.is_there = state.minutes.is_there = false;
  state.hours.has_others = true;
  struct tier_plan before =
      plan_of(&state, (struct tier_wish){.from_ms = AT(2, 0), .to_ms = AT(4, 30)});
  struct tier_plan after =
      plan_of(&state, (struct tier_wish){.from_ms = AT(4, 30), .to_ms = AT(6, 0)});
  assert_piece(&before, DAY_HOURS, 0,
               (struct tier_piece){.tier = TIER_HOUR, .from_ms = AT(2, 0), .to_ms = AT(4, 0)});
  assert_piece(&after, DAY_HOURS, 0,
               (struct tier_piece){.tier = TIER_HOUR, .from_ms = AT(4, 0), .to_ms = AT(6, 0)});
}

static void a_day_without_its_hours_is_taken_whole_where_its_middle_is(void **test) {
  (void)test;
  struct tier_state state = usual_day();
  state.windows.is_there = state.minutes.is_there = false;
  state.hours.has_others = state.hours.is_day_alone = true;
  struct tier_plan whole = plan_of(&state, (struct tier_wish){.from_ms = DAY, .to_ms = DAY * 2});
  struct tier_plan before = plan_of(&state, (struct tier_wish){.to_ms = AT(12, 0)});
  struct tier_plan after =
      plan_of(&state, (struct tier_wish){.from_ms = AT(12, 0), .to_ms = DAY * 2, .grain_ms = 1});
  assert_int_equal(whole.pieces[DAY_HOURS][0].tier, TIER_DAY);
  assert_int_equal(before.count[DAY_HOURS], 0);
  assert_int_equal(after.count[DAY_HOURS], 1);
  assert_int_equal(after.pieces[DAY_HOURS][0].tier, TIER_DAY);
  state.windows = (struct tier_windows){.is_there = true, .source = SOURCE};
  state.windows.newest_id[2 * 12] = 5; /* of a file begun again: beside the day */
  memset(state.hours.rolled_id, 0, sizeof state.hours.rolled_id);
  before = plan_of(&state, (struct tier_wish){.to_ms = AT(12, 0)});
  assert_int_equal(before.count[DAY_HOURS], 0);
  assert_piece(&before, DAY_WINDOWS, 0,
               (struct tier_piece){.from_ms = AT(2, 0), .to_ms = AT(2, 5)});
}

static void what_came_late_is_read_beside_the_sum(void **test) {
  (void)test;
  struct tier_state state = usual_day();
  state.windows.newest_id[3 * 12 + 5] = 1000;
  struct tier_plan plan = plan_of(&state, (struct tier_wish){.from_ms = DAY, .to_ms = AT(13, 0)});
  assert_piece(&plan, DAY_HOURS, 0,
               (struct tier_piece){.tier = TIER_DAY, .from_ms = DAY, .to_ms = AT(24, 0)});
  assert_int_equal(plan.count[DAY_WINDOWS], 1);
  assert_piece(&plan, DAY_WINDOWS, 0,
               (struct tier_piece){.from_ms = AT(3, 25), .to_ms = AT(3, 30), .after_id = 48});
  assert_false(tier_plan_is_rolled(&state.windows, &state.hours));
}

/* The windows were deleted, and one arrived late: their file has only the late one. */
static void a_file_of_windows_begun_anew_is_not_taken_for_all(void **test) {
  (void)test;
  struct tier_state state = usual_day();
  memset(state.windows.newest_id, 0, sizeof state.windows.newest_id);
  memset(state.minutes.rolled_id, 0, sizeof state.minutes.rolled_id);
  memset(state.hours.rolled_id, 0, sizeof state.hours.rolled_id);
  state.windows.newest_id[2 * 12] = 1;
  state.minutes.has_others = state.hours.has_others = true;
  struct tier_plan plan =
      plan_of(&state, (struct tier_wish){.from_ms = AT(2, 2), .to_ms = AT(3, 0)});
  assert_int_equal(plan.count[DAY_MINUTES], 1); /* of 2:00 too: its middle is in the range */
  assert_piece(&plan, DAY_MINUTES, 0,
               (struct tier_piece){.tier = TIER_MINUTES, .from_ms = AT(2, 0), .to_ms = AT(3, 0)});
  assert_piece(&plan, DAY_WINDOWS, 0, (struct tier_piece){.from_ms = AT(2, 2), .to_ms = AT(2, 5)});
}

static void blocks_are_no_longer_than_was_asked_for(void **test) {
  (void)test;
  struct tier_state state = usual_day();
  struct tier_wish wish = {.from_ms = DAY, .to_ms = AT(12, 0), .grain_ms = TIER_DAY_MS - 1};
  struct tier_plan hours = plan_of(&state, wish);
  assert_piece(&hours, DAY_HOURS, 0,
               (struct tier_piece){.tier = TIER_HOUR, .from_ms = DAY, .to_ms = AT(12, 0)});
  wish.grain_ms = TIER_HOUR_MS - 1;
  struct tier_plan minutes = plan_of(&state, wish);
  assert_int_equal(minutes.count[DAY_HOURS], 0);
  assert_piece(&minutes, DAY_MINUTES, 0,
               (struct tier_piece){.tier = TIER_MINUTES, .from_ms = DAY, .to_ms = AT(12, 0)});
  wish.grain_ms = TIER_MINUTES_MS - 1;
  struct tier_plan windows = plan_of(&state, wish);
  assert_int_equal(windows.count[DAY_MINUTES], 0);
  assert_piece(&windows, DAY_WINDOWS, 0, (struct tier_piece){.from_ms = DAY, .to_ms = AT(12, 0)});
}

static void boards_are_merged_where_that_will_do_and_was_made(void **test) {
  (void)test;
  struct tier_state state = usual_day();
  state.hours.is_grouped[4] = false;
  const struct tier_wish wish = {.from_ms = AT(3, 0), .to_ms = AT(6, 0), .merges_boards = true};
  struct tier_plan plan = plan_of(&state, wish);
  assert_int_equal(plan.count[DAY_HOURS], 3);
  for (unsigned i = 0; i < 3; i++) assert_int_equal(plan.pieces[DAY_HOURS][i].is_grouped, i != 1);
  const struct tier_wish apart = {.from_ms = AT(3, 0), .to_ms = AT(6, 0)};
  plan = plan_of(&state, apart);
  assert_int_equal(plan.count[DAY_HOURS], 1);
  assert_false(plan.pieces[DAY_HOURS][0].is_grouped);
}

/* Every millisecond's windows are read once: by id and by time, in any state. */
static unsigned times_read(const struct tier_plan *plan, uint64_t mid_ms, uint64_t id,
                           const struct tier_state *state) {
  unsigned five = (unsigned)((mid_ms - DAY) / TIER_MINUTES_MS), hour = five / 12, times = 0;
  const struct tier_rolled *of[] = {NULL, &state->minutes, &state->hours};
  for (unsigned kind = 0; kind < DAY_KINDS; kind++) {
    for (size_t i = 0; i < plan->count[kind]; i++) {
      const struct tier_piece *piece = &plan->pieces[kind][i];
      uint64_t length = piece->tier == TIER_WINDOW ? 1 : tier_length_ms(piece->tier);
      uint64_t start = mid_ms - mid_ms % length;
      if (start < piece->from_ms || start >= piece->to_ms) continue;
      if (kind == DAY_WINDOWS)
        times += id > piece->after_id;
      else
        times += id <= of[kind]->rolled_id[kind == DAY_MINUTES ? five : hour];
    }
  }
  return times;
}

static void every_window_is_read_exactly_once_whatever_was_summed_up(void **test) {
  (void)test;
  srand(1);
  for (int round = 0; round < 3000; round++) {
    struct tier_state state = {.day_ms = DAY,
                               .windows = {.is_there = true, .source = SOURCE},
                               .minutes = {.is_there = rand() % 4 > 0},
                               .hours = {.is_there = rand() % 4 > 0}};
    for (unsigned i = 0; i < TIER_MINUTES_A_DAY; i++) {
      state.windows.newest_id[i] = (uint64_t)(rand() % 9);
      state.minutes.has[i] = state.minutes.is_there && rand() % 3 > 0;
      if (state.minutes.has[i])
        state.minutes.rolled_id[i] = (uint64_t)rand() % (state.windows.newest_id[i] + 1);
      unsigned hour = i / 12;
      state.hours.is_day_alone = state.hours.is_there && round % 3 == 0;
      if (i % 12 == 0) {
        state.hours.has[hour] = state.hours.is_there && rand() % 3 > 0;
        if (state.hours.has[hour]) state.hours.rolled_id[hour] = (uint64_t)(rand() % 9);
      }
    }
    struct tier_wish wish = {.from_ms = DAY + (uint64_t)rand() % TIER_DAY_MS,
                             .grain_ms = rand() % 2 ? 0 : (uint64_t)rand() % (2 * TIER_DAY_MS)};
    if (rand() % 2) wish.from_ms = DAY;
    wish.to_ms = wish.from_ms + (uint64_t)rand() % (uint64_t)(DAY + TIER_DAY_MS - wish.from_ms) + 1;
    if (rand() % 2) wish.to_ms = DAY + TIER_DAY_MS;
    struct tier_plan plan = plan_of(&state, wish);
    for (int i = 0; i < 40; i++) {
      uint64_t mid = DAY + (uint64_t)rand() % TIER_DAY_MS;
      uint64_t newest = state.windows.newest_id[(mid - DAY) / TIER_MINUTES_MS];
      if (newest == 0) continue;
      uint64_t id = 1 + (uint64_t)rand() % newest;
      bool is_in = wish.from_ms <= mid && mid < wish.to_ms;
      assert_int_equal(times_read(&plan, mid, id, &state), is_in);
    }
  }
}

/* Deleted windows and windows that arrived later are each read once, with or without sums of five
   minutes. Without these, only whole hours are left of the deleted ones. */
static void what_was_deleted_is_read_from_sums_and_what_came_later_beside_them(void **test) {
  (void)test;
  enum { LATE = 100 };
  srand(1);
  for (unsigned round = 0; round < 500; round++) {
    struct tier_state state = usual_day();
    state.minutes.is_there = round % 2 == 0;
    uint64_t from = DAY + (uint64_t)(rand() % 13) * TIER_HOUR_MS;
    struct tier_wish wish = {.from_ms = from,
                             .to_ms = from + (uint64_t)(1 + rand() % 6) * TIER_HOUR_MS,
                             .grain_ms =
                                 rand() % 2 ? 0 : TIER_HOUR_MS * (uint64_t)(rand() % 2) + 1};
    state.windows.whole_from_ms = DAY + (uint64_t)(rand() % (13 * 12)) * TIER_MINUTES_MS;
    unsigned gone = (unsigned)((state.windows.whole_from_ms - DAY) / TIER_MINUTES_MS);
    for (unsigned i = 0; i < gone; i++) state.windows.newest_id[i] = i % 7 == 0 ? LATE + 100 : 0;
    struct tier_plan plan = plan_of(&state, wish);
    for (unsigned five = 0; five < 13 * 12; five++) {
      uint64_t mid = DAY + five * (uint64_t)TIER_MINUTES_MS + 1000;
      bool is_in = wish.from_ms <= mid && mid < wish.to_ms;
      struct tier_plan there = plan;
      if (five < gone) there.count[DAY_WINDOWS] = 0; /* it does not exist: only the sums have it */
      assert_int_equal(times_read(&there, mid, five + 1, &state), is_in);
      if (five < gone && five % 7 == 0)
        assert_int_equal(times_read(&plan, mid, LATE + 100, &state), is_in);
    }
  }
}

static void what_is_not_in_all_sums_is_not_spared(void **test) {
  (void)test;
  struct tier_state state = usual_day();
  assert_int_equal(tier_plan_spare(&state, AT(1, 0)), 0);
  assert_int_equal(tier_plan_spare(&state, AT(0, 4)), -1);
  for (unsigned i = 0; i < 12; i++) state.windows.newest_id[i] = 0;
  assert_int_equal(tier_plan_spare(&state, AT(2, 0)), 12);
  assert_int_equal(tier_plan_spare(&state, AT(1, 4)), -1);
  state.windows.newest_id[3] = 1000; /* late, and in no sum yet: no later window may be deleted */
  assert_int_equal(tier_plan_spare(&state, AT(2, 0)), -1);
  state.hours.rolled_id[0] = 1000;
  assert_int_equal(tier_plan_spare(&state, AT(2, 0)), -1);
  state.minutes.rolled_id[3] = 1000;
  assert_int_equal(tier_plan_spare(&state, AT(2, 0)), 3);
  state.minutes = (struct tier_rolled){.is_there = false};
  assert_int_equal(tier_plan_spare(&state, AT(2, 0)), 3);
  state.hours = (struct tier_rolled){.is_there = false};
  assert_int_equal(tier_plan_spare(&state, AT(2, 0)), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_whole_day_is_its_block_and_what_no_hour_has_yet),
      cmocka_unit_test(the_edges_of_a_range_are_made_of_finer_blocks),
      cmocka_unit_test(without_finer_files_an_edge_goes_where_its_middle_is),
      cmocka_unit_test(a_day_without_its_hours_is_taken_whole_where_its_middle_is),
      cmocka_unit_test(what_came_late_is_read_beside_the_sum),
      cmocka_unit_test(a_file_of_windows_begun_anew_is_not_taken_for_all),
      cmocka_unit_test(blocks_are_no_longer_than_was_asked_for),
      cmocka_unit_test(boards_are_merged_where_that_will_do_and_was_made),
      cmocka_unit_test(what_was_deleted_is_read_from_sums_and_what_came_later_beside_them),
      cmocka_unit_test(what_is_not_in_all_sums_is_not_spared),
      cmocka_unit_test(every_window_is_read_exactly_once_whatever_was_summed_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
