/* SPDX-License-Identifier: Apache-2.0 */
/* The table of wrong clocks. The collector's wall clock is off by OFF, from its start or after a
   steady hour. There are 0, 1, 2, 3 or 100 boards, of which at most one has a false clock. Three
   days pass in each cell, ten minutes a step, by the rules of sessions and retention. Only old data
   is deleted; old data is deleted if the time is known; and each window is placed in its minute if
   the time can be known. The table is printed:

     .  windows are in their minute, and old data is deleted
     k  windows are in their minute; all is kept: the wall clock is behind
     ?  the right clock cannot be determined: the wall clock places windows
     d  the same, and after a steady day the wall clock alone deletes */
#include "common/clock.h"
#include "ingest/placement.h"
#include "ingest/trusted_time.h"

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
#define TRUTH_NS (1790000000 * NS_PER_SECOND) /* 2026-09-21, at the collector's start */
#define BOOT_NS (5 * MINUTE_NS)               /* the collector's time since boot then */
#define BOARD_BOOT_NS (77 * HOUR_NS)          /* each board's time since boot then */
#define RETENTION_NS (30 * DAY_NS)
#define STEP_NS (10 * MINUTE_NS)
#define STEPS (3 * 24 * 6)
#define JUMP_STEP 6

enum { WITNESSES = 3, OFFSETS = 9, FLEETS = 5, LIES = 4 };

static const struct {
  const char *name;
  int64_t ns;
} offsets[OFFSETS] = {
    {"-10 y", -10 * (int64_t)YEAR_NS},
    {"-1 y", -(int64_t)YEAR_NS},
    {"-40 d", -40 * (int64_t)DAY_NS},
    {"-1 h", -(int64_t)HOUR_NS},
    {"0", 0},
    {"+1 h", HOUR_NS},
    {"+40 d", 40 * DAY_NS},
    {"+10 y", 10 * YEAR_NS},
    {"+100 y", 100 * YEAR_NS},
};
static const unsigned fleets[FLEETS] = {0, 1, 2, 3, 100};
static const struct {
  const char *name;
  uint64_t ns; /* of the false clock at the start; 0: no clock is false */
} lies[LIES] = {{"none", 0},
                {"2100", 4102444800 * NS_PER_SECOND},
                {"1970", 3600 * NS_PER_SECOND},
                {"2038", 2147483648 * NS_PER_SECOND}};

struct cell {
  int64_t off_ns;
  unsigned boards, lie;
  bool is_running; /* whether the wall clock was right for an hour */
  struct trusted_time *time;
  struct placement placements[WITNESSES]; /* of the first boards */
  uint64_t passed_ns;                     /* since the start */
  unsigned placed, misplaced;             /* windows; the false board's only while the collector's
                                             clock is right */
  uint64_t early_ns;                      /* the most by which data was deleted too early */
  uint64_t first_early_ns;                /* since the wall clock became wrong */
  bool is_old_gone;
};

static bool is_wrong(const struct cell *cell) {
  return !cell->is_running || cell->passed_ns >= JUMP_STEP * STEP_NS;
}

static uint64_t wall_of(const struct cell *cell) {
  return TRUTH_NS + cell->passed_ns + (is_wrong(cell) ? (uint64_t)cell->off_ns : 0);
}

/* The collector's time, as clock_judged_ns computes it. */
static uint64_t now_of(const struct cell *cell) {
  const struct clock_word word = trusted_time_word(cell->time);
  return clock_judge_ns(&word, wall_of(cell), BOOT_NS + cell->passed_ns);
}

static bool is_liar(const struct cell *cell, unsigned board) {
  return board == 0 && lies[cell->lie].ns != 0;
}

static uint64_t clock_of(const struct cell *cell, unsigned board) {
  return (is_liar(cell, board) ? lies[cell->lie].ns : TRUTH_NS) + cell->passed_ns;
}

static void hear(struct cell *cell, unsigned board) {
  char name[32];
  snprintf(name, sizeof name, "board-%u", board);
  trusted_time_hear(cell->time, name, clock_of(cell, board), BOOT_NS + cell->passed_ns);
}

static void greet(struct cell *cell, unsigned board) {
  struct hello hello = {.boot_id = "this boot",
                        .boottime_ns = BOARD_BOOT_NS + cell->passed_ns,
                        .walltime_ns = clock_of(cell, board)};
  if (board < WITNESSES)
    placement_learn(&cell->placements[board], &hello, now_of(cell), BOOT_NS + cell->passed_ns);
  hear(cell, board);
}

static void ping(struct cell *cell, unsigned board) {
  uint64_t our_ns = BOOT_NS + cell->passed_ns;
  struct ping ping = {.boottime_ns = BOARD_BOOT_NS + cell->passed_ns,
                      .walltime_ns = clock_of(cell, board)};
  if (board < WITNESSES) {
    struct placement *placement = &cell->placements[board];
    placement_relearn(placement, &ping, placement_now(placement, now_of(cell), our_ns), our_ns);
  }
  hear(cell, board);
}

/* BOARD sends a window that ended AGO_NS ago; it is placed as in a session. */
static void deliver(struct cell *cell, unsigned board, uint64_t ago_ns) {
  struct placement *placement = &cell->placements[board];
  uint64_t our_ns = BOOT_NS + cell->passed_ns, end_ns = BOARD_BOOT_NS + cell->passed_ns - ago_ns;
  struct batch batch = {.boot_id = "this boot",
                        .start_boottime_ns = end_ns - 10 * NS_PER_SECOND,
                        .end_boottime_ns = end_ns,
                        .end_walltime_ns = clock_of(cell, board) - ago_ns};
  batch.start_walltime_ns = batch.end_walltime_ns - 10 * NS_PER_SECOND;
  uint64_t now_ns = placement_now(placement, now_of(cell), our_ns);
  placement_follow(placement, now_ns, our_ns);
  struct placed placed = placement_of(placement, &batch, now_ns);
  uint64_t truth_ms = (TRUTH_NS + cell->passed_ns - ago_ns) / NS_PER_MS;
  bool is_right = placed.end_ms + 30000 > truth_ms && placed.end_ms < truth_ms + 30000;
  cell->placed++;
  cell->misplaced += !is_right;
}

/* Retention: records by how much data is deleted too early, and whether old data is deleted. */
static void retain(struct cell *cell) {
  struct trusted_now now = trusted_time_look(cell->time, wall_of(cell), BOOT_NS + cell->passed_ns);
  uint64_t truth_ns = TRUTH_NS + cell->passed_ns;
  if (now.now_ns > truth_ns + CLOCK_APART_NS) {
    if (cell->early_ns == 0)
      cell->first_early_ns = cell->passed_ns - (cell->is_running ? JUMP_STEP * STEP_NS : 0);
    if (now.now_ns - truth_ns > cell->early_ns) cell->early_ns = now.now_ns - truth_ns;
  }
  if (now.now_ns + CLOCK_APART_NS > truth_ns) cell->is_old_gone = true;
}

/* Three days. Windows sent before the wall clock becomes wrong count, too. */
static void pass(struct cell *cell) {
  cell->time = trusted_time_new();
  assert_non_null(cell->time);
  trusted_time_look(cell->time, wall_of(cell), BOOT_NS);
  for (unsigned board = 0; board < cell->boards; board++) greet(cell, board);
  for (unsigned step = 0; step < STEPS; step++) {
    /* Windows before any ping or check, so the first event after a jump is a window; one is from a
       spool. */
    for (unsigned board = 0; board < cell->boards && board < WITNESSES; board++) {
      if (is_liar(cell, board) && cell->off_ns != 0) continue;
      deliver(cell, board, 0);
      deliver(cell, board, 90 * MINUTE_NS);
    }
    retain(cell);
    for (unsigned board = 0; board < cell->boards; board++) ping(cell, board);
    cell->passed_ns += STEP_NS;
  }
  trusted_time_free(cell->time);
}

struct expected {
  bool is_placed, is_deleted, is_by_wall_alone;
};

/* The expected result by reasoning, independent of the code: which clocks agree. */
static struct expected expect(const struct cell *cell) {
  bool has_liar = lies[cell->lie].ns != 0 && cell->boards > 0;
  bool is_witness_liar = has_liar && lies[cell->lie].ns >= CLOCK_PLAUSIBLE_NS;
  unsigned honest = cell->boards - has_liar;
  unsigned witnesses = honest + is_witness_liar;
  bool is_right = cell->off_ns == 0, is_ahead = cell->off_ns > 0;
  bool is_impossible = TRUTH_NS + (uint64_t)cell->off_ns < CLOCK_PLAUSIBLE_NS;
  bool do_boards_agree = honest >= 2;
  bool second_is_honest = witnesses >= 2;
  return (struct expected){
      .is_placed = is_right || do_boards_agree || (is_impossible && honest > 0),
      .is_deleted = is_right || is_ahead,
      .is_by_wall_alone = is_ahead && !second_is_honest,
  };
}

static char letter_of(const struct cell *cell) {
  if (cell->early_ns > 0) return 'd';
  if (cell->misplaced > 0 || (cell->placed == 0 && cell->off_ns != 0)) return '?';
  return cell->is_old_gone ? '.' : 'k';
}

static char try_cell(struct cell *cell, const char *offset) {
  pass(cell);
  const struct expected expected = expect(cell);
  char where[128];
  snprintf(where, sizeof where, "%s %s, %u boards, liar: %s", offset,
           cell->is_running ? "while running" : "at start", cell->boards, lies[cell->lie].name);
  if (cell->early_ns > 0 && !expected.is_by_wall_alone)
    fail_msg("%s: data is deleted %" PRIu64 " s too early", where, cell->early_ns / NS_PER_SECOND);
  if (cell->early_ns > 0 && cell->first_early_ns < DAY_NS)
    fail_msg("%s: data is deleted before a steady day is over", where);
  if (expected.is_placed && cell->misplaced > 0)
    fail_msg("%s: %u of %u windows are misplaced", where, cell->misplaced, cell->placed);
  bool is_kept_behind = !cell->is_running && cell->off_ns < 0;
  if (expected.is_deleted && !cell->is_old_gone) fail_msg("%s: what is old stays", where);
  if (is_kept_behind && cell->is_old_gone) fail_msg("%s: deleted by a clock that is behind", where);
  return letter_of(cell);
}

static void no_clock_deletes_or_moves_data(void **state) {
  (void)state;
  print_message("%30s", "");
  for (unsigned fleet = 0; fleet < FLEETS; fleet++) print_message("%-10u", fleets[fleet]);
  print_message("boards; each: liar none, in 2100, 1970, 2038\n");
  for (unsigned running = 0; running < 2; running++)
    for (unsigned off = 0; off < OFFSETS; off++) {
      print_message("%10s %-18s ", offsets[off].name, running ? "while running" : "at start");
      for (unsigned fleet = 0; fleet < FLEETS; fleet++) {
        char letters[LIES + 1] = "";
        for (unsigned lie = 0; lie < LIES; lie++) {
          struct cell cell = {.off_ns = offsets[off].ns,
                              .boards = fleets[fleet],
                              .lie = lie,
                              .is_running = running == 1};
          letters[lie] = try_cell(&cell, offsets[off].name);
        }
        print_message("%-10s", letters);
      }
      print_message("\n");
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_clock_deletes_or_moves_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
