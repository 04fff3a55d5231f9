/* SPDX-License-Identifier: Apache-2.0 */
/* The table of wrong clocks. The collector's wall clock is off by OFF, from its start or after a
   steady hour. There are 0, 1, 2, 3 or 100 boards, of which at most one has a false clock. Three
   days pass in each cell, ten minutes a step, by the rules of sessions and retention. Only old data
   is deleted; old data is deleted if the time is known; and each window is placed in its minute if
   the time can be known. The table is printed:

     .  windows are in their minute, and old data is deleted
     k  windows are in their minute; all is kept: the wall clock is behind
     ?  the right clock cannot be determined: the wall clock places windows
     d  the same, and after a steady day the wall clock alone deletes

   Then two or three of a hundred have a false clock, or echo the collector's. They are heard first,
   also after a restart of the collector or of its machine. */
#include "common/clock.h"
#include "ingest/placement.h"
#include "ingest/trusted_time.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
  unsigned first_liar, liars, steps;
  bool do_liars_echo;    /* the wall clock, in place of LIE */
  unsigned restart_step; /* 0: none */
  bool is_reboot, are_liars_revoked;
  uint64_t boot_ns; /* the collector's time since boot at the start; wraps after a reboot */
  bool is_running;  /* it was right for an hour */
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

static uint64_t our_time(const struct cell *cell) {
  return cell->boot_ns + cell->passed_ns;
}

/* The collector's time, as clock_judged_ns computes it. */
static uint64_t now_of(const struct cell *cell) {
  const struct clock_word word = trusted_time_word(cell->time);
  return clock_judge_ns(&word, wall_of(cell), our_time(cell));
}

static bool is_liar(const struct cell *cell, unsigned board) {
  bool does_lie = cell->do_liars_echo || lies[cell->lie].ns != 0;
  return does_lie && board >= cell->first_liar && board - cell->first_liar < cell->liars;
}

static uint64_t clock_of(const struct cell *cell, unsigned board) {
  if (is_liar(cell, board) && cell->do_liars_echo) return wall_of(cell);
  return (is_liar(cell, board) ? lies[cell->lie].ns : TRUTH_NS) + cell->passed_ns;
}

static void hear(struct cell *cell, unsigned board) {
  char name[32];
  snprintf(name, sizeof name, "board-%u", board);
  trusted_time_hear(cell->time, name, clock_of(cell, board), our_time(cell));
}

static void greet(struct cell *cell, unsigned board) {
  struct hello hello = {.boot_id = "this boot",
                        .boottime_ns = BOARD_BOOT_NS + cell->passed_ns,
                        .walltime_ns = clock_of(cell, board)};
  if (board < WITNESSES)
    placement_learn(&cell->placements[board], &hello, now_of(cell), our_time(cell));
  hear(cell, board);
}

static void ping(struct cell *cell, unsigned board) {
  uint64_t our_ns = our_time(cell);
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
  uint64_t our_ns = our_time(cell), end_ns = BOARD_BOOT_NS + cell->passed_ns - ago_ns;
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
  struct trusted_now now = trusted_time_look(cell->time, wall_of(cell), our_time(cell));
  uint64_t truth_ns = TRUTH_NS + cell->passed_ns;
  if (now.now_ns > truth_ns + CLOCK_APART_NS) {
    if (cell->early_ns == 0)
      cell->first_early_ns = cell->passed_ns - (cell->is_running ? JUMP_STEP * STEP_NS : 0);
    if (now.now_ns - truth_ns > cell->early_ns) cell->early_ns = now.now_ns - truth_ns;
  }
  if (now.now_ns + CLOCK_APART_NS > truth_ns) cell->is_old_gone = true;
}

/* Liars are heard first, and retention goes by them. */
static void greet_all(struct cell *cell) {
  for (unsigned i = 0; i < cell->liars && i < cell->boards; i++) greet(cell, cell->first_liar + i);
  if (cell->passed_ns > 0) retain(cell);
  for (unsigned board = 0; board < cell->boards; board++)
    if (!is_liar(cell, board)) greet(cell, board);
}

static void begin(struct cell *cell) {
  cell->time = trusted_time_new();
  assert_non_null(cell->time);
}

static void restart(struct cell *cell) {
  uint8_t boot_id[TRUST_BOOT_ID_BYTES] = "this";
  struct trusted_kept kept;
  trusted_time_keep(cell->time, &kept);
  trusted_time_free(cell->time);
  memcpy(kept.boot_id, boot_id, sizeof boot_id);
  if (cell->is_reboot) boot_id[0] = 0, cell->boot_ns = MINUTE_NS - cell->passed_ns;
  memset(cell->placements, 0, sizeof cell->placements);
  begin(cell);
  trusted_time_resume(cell->time, &kept, boot_id, our_time(cell));
  trusted_time_look(cell->time, wall_of(cell), our_time(cell));
  greet_all(cell);
}

static void revoke_liars(struct cell *cell) {
  char name[32];
  for (unsigned i = 0; i < cell->liars; i++) {
    snprintf(name, sizeof name, "board-%u", cell->first_liar + i);
    trusted_time_forget(cell->time, name);
  }
}

/* What was sent before the wall clock is wrong counts as well. */
static void pass(struct cell *cell) {
  cell->boot_ns = BOOT_NS;
  begin(cell);
  trusted_time_look(cell->time, wall_of(cell), our_time(cell));
  greet_all(cell);
  if (cell->are_liars_revoked) revoke_liars(cell);
  for (unsigned step = 0; step < cell->steps; step++) {
    if (step > 0 && step == cell->restart_step) restart(cell);
    /* Before any ping or look, so a jump is met by a window first; one is from a spool. */
    for (unsigned board = 0; board < cell->boards && board < WITNESSES; board++) {
      if (is_liar(cell, board) && cell->off_ns != 0) continue;
      deliver(cell, board, 0);
      deliver(cell, board, 90 * MINUTE_NS);
    }
    retain(cell);
    for (unsigned board = 0; board < cell->boards; board++)
      if (!cell->are_liars_revoked || !is_liar(cell, board)) ping(cell, board);
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
                              .liars = 1,
                              .steps = STEPS,
                              .is_running = running == 1};
          letters[lie] = try_cell(&cell, offsets[off].name);
        }
        print_message("%-10s", letters);
      }
      print_message("\n");
    }
}

/* A cell of few liars: nothing is moved or deleted. */
static void try_few(struct cell *cell, const char *offset) {
  pass(cell);
  if (cell->early_ns == 0 && cell->misplaced == 0) return;
  fail_msg("%s %s, %u of %u lie%s (%s)%s%s: %u of %u windows misplaced, deleted %" PRIu64
           " s too early",
           offset, cell->is_running ? "while running" : "at start", cell->liars, cell->boards,
           cell->do_liars_echo ? " by echo" : "", lies[cell->lie].name,
           cell->restart_step > 0 ? ", restart" : "", cell->is_reboot ? " of the machine" : "",
           cell->misplaced, cell->placed, cell->early_ns / NS_PER_SECOND);
}

static void few_liars_of_many_delete_or_move_nothing(void **state) {
  (void)state;
  enum { HOW = 3, RESTARTS = 3, FEW_STEPS = 18 };
  for (unsigned at = 0; at < 2 * OFFSETS * HOW * RESTARTS * 2; at++) {
    unsigned off = at / 2 % OFFSETS, how = at / (2 * OFFSETS) % HOW;
    unsigned restarts = at / (2 * OFFSETS * HOW) % RESTARTS;
    struct cell cell = {.off_ns = offsets[off].ns,
                        .boards = 100,
                        .lie = how == 0 ? 1 : 3, /* 2100, 2038, echo */
                        .first_liar = WITNESSES,
                        .liars = at / (2 * OFFSETS * HOW * RESTARTS) == 0 ? 2 : 3,
                        .steps = FEW_STEPS,
                        .do_liars_echo = how == 2,
                        .restart_step = restarts > 0 ? 2 * JUMP_STEP : 0,
                        .is_reboot = restarts == 2,
                        .is_running = at % 2 == 1};
    try_few(&cell, offsets[off].name);
  }
}

/* Three of five. */
static void revoked_liars_delete_or_move_nothing(void **state) {
  (void)state;
  for (unsigned at = 0; at < 2 * OFFSETS * LIES; at++) {
    unsigned off = at / 2 % OFFSETS, lie = at / (2 * OFFSETS);
    struct cell cell = {.off_ns = offsets[off].ns,
                        .boards = 5,
                        .lie = lie,
                        .first_liar = 2,
                        .liars = 3,
                        .steps = 2 * JUMP_STEP,
                        .do_liars_echo = lie == 0,
                        .are_liars_revoked = true,
                        .is_running = at % 2 == 1};
    try_few(&cell, offsets[off].name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_clock_deletes_or_moves_data),
      cmocka_unit_test(few_liars_of_many_delete_or_move_nothing),
      cmocka_unit_test(revoked_liars_delete_or_move_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
