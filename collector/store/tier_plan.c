/* SPDX-License-Identifier: Apache-2.0 */
/* A coarse block holds the windows of its time up to a certain id. Later windows are read in
   addition, from the file of windows, by that id. So it does not matter when a block was made, or
   whether all windows had arrived:

     hours      [====10====][====11====][====12====]
     minutes                                        [5][5][5]
     windows              + id > 812                         ||||| now

   An hour that the range covers is read as its block. Other hours are read as five minutes, and the
   remainder as windows.

   A late batch may recreate a deleted file of windows. That file is not whole: a part of an hour
   cannot be read from it, only additions to blocks. The coarser files reveal this, because they
   record the number of the file that they are made from. A file of windows is also not whole before
   the time up to which it was pruned. A file of five minutes is always whole: it gets all data
   before the hours do, and is not begun if these have data that it could not get (roll.c). */
#include "tier_plan.h"

#include <string.h>

struct planner {
  const struct tier_state *state;
  const struct tier_wish *wish;
  struct tier_plan *plan;
  uint64_t from_ms, to_ms; /* the part of the day */
  bool are_windows_whole;
  bool has_day;      /* the day's block replaces its hours */
  bool is_day_alone; /* and no finer file has its data */
};

static void add(struct planner *planner, enum day_kind kind, const struct tier_piece *piece) {
  size_t *count = &planner->plan->count[kind];
  struct tier_piece *last = *count > 0 ? &planner->plan->pieces[kind][*count - 1] : NULL;
  if (last != NULL && last->to_ms == piece->from_ms && last->tier == piece->tier &&
      last->after_id == piece->after_id && last->is_grouped == piece->is_grouped)
    last->to_ms = piece->to_ms;
  else if (*count < TIER_PIECES_MAX)
    planner->plan->pieces[kind][(*count)++] = *piece;
}

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* Returns whether the file of windows has all data from FROM_MS on. */
static bool are_whole(const struct planner *planner, uint64_t from_ms) {
  return planner->are_windows_whole && from_ms >= planner->state->windows.whole_from_ms;
}

static bool is_covered(const struct planner *planner, uint64_t start_ms, uint64_t end_ms) {
  return planner->from_ms <= start_ms && end_ms <= planner->to_ms;
}

static bool is_middle_covered(const struct planner *planner, uint64_t start_ms, uint64_t end_ms) {
  uint64_t middle_ms = start_ms + (end_ms - start_ms) / 2;
  return planner->from_ms <= middle_ms && middle_ms < planner->to_ms;
}

/* Adds the windows in the five minutes AT with ids above AFTER_ID. */
static void add_windows(struct planner *planner, unsigned at, uint64_t after_id) {
  const struct tier_windows *windows = &planner->state->windows;
  uint64_t start_ms = planner->state->day_ms + (uint64_t)at * TIER_MINUTES_MS;
  const struct tier_piece piece = {
      .from_ms = larger(start_ms, planner->from_ms),
      .to_ms = smaller(start_ms + TIER_MINUTES_MS, planner->to_ms),
      .after_id = after_id,
  };
  if (!windows->is_there || windows->newest_id[at] <= after_id || piece.from_ms >= piece.to_ms)
    return;
  add(planner, DAY_WINDOWS, &piece);
}

static void add_late_windows(struct planner *planner, unsigned hour) {
  for (unsigned i = 0; i < TIER_MINUTES_AN_HOUR; i++)
    add_windows(planner, hour * TIER_MINUTES_AN_HOUR + i, planner->state->hours.rolled_id[hour]);
}

static void add_hour(struct planner *planner, unsigned hour) {
  const struct tier_rolled *hours = &planner->state->hours;
  uint64_t start_ms = planner->state->day_ms + (uint64_t)hour * TIER_HOUR_MS;
  const struct tier_piece piece = {.tier = TIER_HOUR,
                                   .from_ms = start_ms,
                                   .to_ms = start_ms + TIER_HOUR_MS,
                                   .is_grouped =
                                       planner->wish->merges_boards && hours->is_grouped[hour]};
  add(planner, DAY_HOURS, &piece);
  add_late_windows(planner, hour);
}

static void add_five_minutes(struct planner *planner, unsigned at) {
  const struct tier_rolled *minutes = &planner->state->minutes;
  uint64_t start_ms = planner->state->day_ms + (uint64_t)at * TIER_MINUTES_MS;
  uint64_t end_ms = start_ms + TIER_MINUTES_MS, grain_ms = planner->wish->grain_ms;
  const struct tier_piece piece = {.tier = TIER_MINUTES, .from_ms = start_ms, .to_ms = end_ms};
  bool is_fine_enough = grain_ms == 0 || grain_ms >= TIER_MINUTES_MS;
  bool is_whole = is_covered(planner, start_ms, end_ms);
  if (end_ms <= planner->from_ms || start_ms >= planner->to_ms) return;
  if (!minutes->is_there || !minutes->has[at] ||
      (are_whole(planner, start_ms) && !(is_whole && is_fine_enough))) {
    add_windows(planner, at, 0);
    return;
  }
  if (is_middle_covered(planner, start_ms, end_ms)) add(planner, DAY_MINUTES, &piece);
  add_windows(planner, at, minutes->rolled_id[at]);
}

static void plan_hour(struct planner *planner, unsigned hour) {
  uint64_t start_ms = planner->state->day_ms + (uint64_t)hour * TIER_HOUR_MS;
  uint64_t end_ms = start_ms + TIER_HOUR_MS, grain_ms = planner->wish->grain_ms;
  const struct tier_rolled *hours = &planner->state->hours;
  bool has_hour = hours->is_there && hours->has[hour];
  bool is_fine_enough = grain_ms == 0 || grain_ms >= TIER_HOUR_MS;
  bool has_finer = are_whole(planner, start_ms) || planner->state->minutes.is_there;
  if (end_ms <= planner->from_ms || start_ms >= planner->to_ms) return;
  if (has_hour && (planner->has_day || planner->is_day_alone)) {
    add_late_windows(planner, hour);
    return;
  }
  has_hour = has_hour && !hours->is_day_alone;
  if (has_hour && is_covered(planner, start_ms, end_ms) && (is_fine_enough || !has_finer)) {
    add_hour(planner, hour);
  } else if (has_hour && !has_finer) {
    if (is_middle_covered(planner, start_ms, end_ms))
      add_hour(planner, hour);
    else
      add_late_windows(planner, hour);
  } else {
    for (unsigned i = 0; i < TIER_MINUTES_AN_HOUR; i++)
      add_five_minutes(planner, hour * TIER_MINUTES_AN_HOUR + i);
  }
}

/* Returns whether the day's block serves: the range must cover all hours that it includes. */
static bool wants_day(const struct planner *planner) {
  const struct tier_rolled *hours = &planner->state->hours;
  uint64_t grain_ms = planner->wish->grain_ms;
  bool has_any = false;
  if (!hours->is_there || (grain_ms != 0 && grain_ms < TIER_DAY_MS)) return false;
  for (unsigned i = 0; i < TIER_HOURS_A_DAY; i++) {
    uint64_t start_ms = planner->state->day_ms + (uint64_t)i * TIER_HOUR_MS;
    if (hours->has[i] && !is_covered(planner, start_ms, start_ms + TIER_HOUR_MS)) return false;
    has_any = has_any || hours->has[i];
  }
  return has_any;
}

void tier_plan_make(const struct tier_state *state, const struct tier_wish *wish,
                    struct tier_plan *ret) {
  struct planner planner = {
      .state = state,
      .wish = wish,
      .plan = ret,
      .from_ms = larger(wish->from_ms, state->day_ms),
      .to_ms = smaller(wish->to_ms, state->day_ms + TIER_DAY_MS),
      .are_windows_whole =
          state->windows.is_there && !state->minutes.has_others && !state->hours.has_others,
  };
  memset(ret->count, 0, sizeof ret->count);
  if (planner.from_ms >= planner.to_ms) return;
  planner.has_day = wants_day(&planner);
  bool has_finer = are_whole(&planner, state->day_ms) || state->minutes.is_there;
  if (!planner.has_day && state->hours.is_day_alone && !has_finer) {
    uint64_t middle_ms = state->day_ms + TIER_DAY_MS / 2;
    planner.is_day_alone = true;
    planner.has_day = wish->from_ms <= middle_ms && middle_ms < wish->to_ms;
  }
  if (planner.has_day) {
    const struct tier_piece day = {.tier = TIER_DAY,
                                   .from_ms = state->day_ms,
                                   .to_ms = state->day_ms + TIER_DAY_MS,
                                   .is_grouped = wish->merges_boards &&
                                                 state->hours.is_grouped[TIER_HOURS_A_DAY]};
    add(&planner, DAY_HOURS, &day);
  }
  for (unsigned i = 0; i < TIER_HOURS_A_DAY; i++) plan_hour(&planner, i);
}

int tier_plan_spare(const struct tier_state *state, uint64_t before_ms) {
  const struct tier_rolled *minutes = &state->minutes, *hours = &state->hours;
  if (!hours->is_there) return -1;
  for (unsigned i = 0; i < TIER_MINUTES_A_DAY; i++) {
    uint64_t end_ms = state->day_ms + (i + 1) * (uint64_t)TIER_MINUTES_MS;
    uint64_t newest_id = state->windows.newest_id[i];
    bool is_rolled = newest_id <= hours->rolled_id[i / TIER_MINUTES_AN_HOUR] &&
                     (!minutes->is_there || newest_id <= minutes->rolled_id[i]);
    if (end_ms > before_ms || !is_rolled) return -1;
    if (newest_id != 0) return (int)i;
  }
  return -1;
}

bool tier_plan_is_rolled(const struct tier_windows *windows, const struct tier_rolled *hours) {
  if (!windows->is_there) return true;
  for (unsigned i = 0; i < TIER_MINUTES_A_DAY; i++) {
    uint64_t rolled_id = hours->is_there ? hours->rolled_id[i / TIER_MINUTES_AN_HOUR] : 0;
    if (windows->newest_id[i] > rolled_id) return false;
  }
  return true;
}
