/* SPDX-License-Identifier: Apache-2.0 */
/* How often intervals cover the truth, and what the verdicts of differences are worth: the tables
   of docs/statistics.md.  Fleets are made up, everything else is the collector's own code.

     statistics [RUNS [coverage|loads|time|nothing|change]]       1000 runs a cell unless told

   Ends with 1 when a figure is not what docs/statistics.md claims, by more than three standard
   errors of the figure: intervals cover the truth 93 to 97 times of 100 where boards differ, by
   half of the share at most, and no less where they do not; where nothing changed 5 diffs of 100
   call anything changed, at most; 5 points are found by 20 boards against 20 others 95 times of
   100. */
#include "tests/unit/view/fleet_fixture.h"

#include "view/diff.h"
#include "view/interval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double shares[] = {0.005, 0.02, 0.10, 0.30, 0.60};
static const unsigned fleets[] = {1, 2, 3, 5, 10, 20, 64, 200};
static const double deviations[] = {0, 0.01, 0.02, 0.05};
enum {
  SHARES = sizeof shares / sizeof *shares,
  FLEETS = sizeof fleets / sizeof *fleets,
  DEVIATIONS = sizeof deviations / sizeof *deviations,
  LOAD_RATIO = 20, /* of the busiest board to the idlest, where loads differ */
};

static unsigned breaches;

/* Counts GOT percent of RUNS as a breach where it is not from LOW to HIGH. */
static void expect(const char *what, unsigned runs, double got, double low, double high) {
  double error = 3 * 100 * sqrt(0.05 * 0.95 / runs);
  if (got >= low - error && got <= high + error) return;
  fprintf(stderr, "outside: %s: %.1f is not from %g to %g\n", what, got, low, high);
  breaches++;
}

static uint64_t load_of(struct random *random, bool is_equal) {
  if (is_equal) return FLEET_HOUR;
  return (uint64_t)(FLEET_HOUR * pow(LOAD_RATIO, -random_uniform(random)));
}

static bool covers(const struct view_share *share, double truth) {
  return share->low <= truth && truth <= share->high;
}

/* Percent of RUNS whose interval has SHARE in it.  A deviation above the share itself is no
   fleet's: it is cut there. */
static double coverage(struct random *random, unsigned runs, unsigned boards, double share,
                       double deviation, bool is_equal) {
  unsigned covered = 0;
  for (unsigned run = 0; run < runs; run++) {
    struct fleet fleet;
    fleet_init(&fleet, random, 2);
    for (unsigned board = 0; board < boards; board++) {
      double own = random_beta(random, share, deviation);
      const double parts[] = {own, 1 - own};
      fleet_add(&fleet, board, 0, 10000, load_of(random, is_equal), parts);
    }
    fleet_end(&fleet);
    struct view_share seen = fleet_share(&fleet);
    covered += covers(&seen, share);
    fleet_fini(&fleet);
  }
  return 100. * covered / runs;
}

/* Boards that differ by more than the share itself are a story apart: the last rows. */
static double deviation_of(unsigned share, unsigned deviation) {
  return deviations[deviation] <= shares[share] / 2 ? deviations[deviation] : shares[share] / 2;
}

/* Of an SD as large as the share is said what it is, and nothing claimed. */
static void judge_row(unsigned runs, double got, double share, double deviation) {
  if (deviation > share / 2) return;
  expect("coverage", runs, got, 93, deviation > 0 ? 97 : 100);
}

static void print_row(unsigned runs, double share, double deviation, bool is_equal) {
  printf("| %g %% | %g |", 100 * share, 100 * deviation);
  for (unsigned i = 0; i < FLEETS; i++) {
    struct random random = {(uint64_t)(1e7 * share + 1e5 * deviation) + i};
    if (fleets[i] == 1 && deviation > 0) {
      printf(" |");
      continue;
    }
    double got = coverage(&random, runs, fleets[i], share, deviation, is_equal);
    judge_row(runs, got, share, deviation);
    printf(" %.1f |", got);
    fflush(stdout);
  }
  printf("\n");
}

static void print_coverage(unsigned runs, bool is_equal) {
  printf("\nPercent of %u intervals that cover the truth; an hour at 99 Hz a board, loads %s\n\n",
         runs, is_equal ? "equal" : "from 1 to 20");
  printf("| share | SD |");
  for (unsigned i = 0; i < FLEETS; i++)
    printf(" %u board%s |", fleets[i], fleets[i] == 1 ? "" : "s");
  printf("\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (unsigned s = 0; s < SHARES; s++)
    for (unsigned d = 0; d < DEVIATIONS; d++)
      if (d == 0 || deviation_of(s, d) > deviation_of(s, d - 1))
        print_row(runs, shares[s], deviation_of(s, d), is_equal);
  print_row(runs, 0.02, 0.02, is_equal);
  print_row(runs, 0.02, 0.05, is_equal);
}

/* A program that is in one of two phases: of a second in the first 90 % is in f0, in the second
   nothing; they last LENGTH seconds on average.  0: each sample by itself. */
struct phases {
  double share, length;
  bool is_first;
};

static double second_of(struct random *random, struct phases *phases) {
  static const double within = 0.9;
  double part = phases->share / within; /* of the time in the first phase */
  if (phases->length <= 0) return phases->share;
  double leave = phases->is_first ? 1 - part : part; /* mean stays: 2 LENGTH in all */
  if (random_uniform(random) < leave / phases->length) phases->is_first = !phases->is_first;
  return phases->is_first ? within : 0;
}

struct time_result {
  double covered, by_samples; /* percent */
};

static struct time_result time_coverage(struct random *random, unsigned runs, double share,
                                        double length, unsigned seconds) {
  struct time_result result = {0, 0};
  for (unsigned run = 0; run < runs; run++) {
    struct fleet fleet;
    struct phases phases = {share, length, random_uniform(random) < share / 0.9};
    fleet_init(&fleet, random, 2);
    for (unsigned second = 0; second < seconds; second++) {
      double now = second_of(random, &phases);
      const double parts[] = {now, 1 - now};
      uint64_t start_ms = second / 10 * 10000;
      fleet_add(&fleet, 0, start_ms, start_ms + 10000, 99, parts);
    }
    fleet_end(&fleet);
    struct view_share seen = fleet_share(&fleet);
    struct view_share samples = interval_wilson(seen.share, 99. * seconds);
    result.covered += covers(&seen, share) * 100. / runs;
    result.by_samples += covers(&samples, share) * 100. / runs;
    fleet_fini(&fleet);
  }
  return result;
}

static void print_time(unsigned runs) {
  static const unsigned lengths[] = {0, 5, 30, 120}, seconds[] = {60, 600, 3600};
  printf(
      "\nPercent of %u intervals of one board that cover the truth, 20 %% (in brackets: those of "
      "the samples alone)\n\n| phases of | 1 min | 10 min | 1 h |\n|---|---|---|---|\n",
      runs);
  for (unsigned l = 0; l < 4; l++) {
    printf(lengths[l] ? "| %u s |" : "| none |", lengths[l]);
    for (unsigned i = 0; i < 3; i++) {
      struct random random = {77 * l + i};
      struct time_result result = time_coverage(&random, runs, 0.2, lengths[l], seconds[i]);
      printf(" %.1f (%.1f) |", result.covered, result.by_samples);
      fflush(stdout);
    }
    printf("\n");
  }
}

/* What is compared: FUNCTIONS, the first of which is 20 % on average and CHANGE more on side b. */
struct comparison {
  unsigned functions, boards;
  double deviation; /* of f0 between boards, in shares; others vary by the same part of theirs */
  double period;    /* of one board from one time to another */
  double change;
  bool is_paired;
};

static void draw_board(struct random *random, const struct comparison *comparison, double *ret) {
  double sum = 0, whole = 0;
  for (unsigned i = 0; i < comparison->functions; i++) sum += 1. / (i + 1);
  for (unsigned i = 0; i < comparison->functions; i++) {
    double share = i == 0 ? 0.2 : 0.8 / (i + 1) / (sum - 1);
    ret[i] = random_beta(random, share, share * comparison->deviation / 0.2);
    if (i > 0) whole += ret[i];
  }
  for (unsigned i = 1; i < comparison->functions; i++) ret[i] *= (1 - ret[0]) / whole;
}

/* What BOARD's shares are in one period, f0's larger by CHANGE. */
static void draw_period(struct random *random, const struct comparison *comparison,
                        const double *board, double change, double *ret) {
  double whole = 0;
  for (unsigned i = 0; i < comparison->functions; i++) {
    ret[i] = random_beta(random, board[i], board[i] * comparison->period / 0.2);
    if (i > 0) whole += ret[i];
  }
  ret[0] = fmin(ret[0] + change, 0.99);
  for (unsigned i = 1; i < comparison->functions; i++) ret[i] *= (1 - ret[0]) / whole;
}

static void draw_sides(struct random *random, const struct comparison *comparison, struct fleet *a,
                       struct fleet *b) {
  double board[FLEET_FUNCTIONS_MAX], now[FLEET_FUNCTIONS_MAX];
  fleet_init(a, random, comparison->functions);
  fleet_init(b, random, comparison->functions);
  for (unsigned i = 0; i < comparison->boards; i++) {
    draw_board(random, comparison, board);
    draw_period(random, comparison, board, 0, now);
    fleet_add(a, i, 0, 10000, FLEET_HOUR, now);
    if (!comparison->is_paired) draw_board(random, comparison, board);
    draw_period(random, comparison, board, comparison->change, now);
    fleet_add(b, comparison->is_paired ? i : i + comparison->boards, 0, 10000, FLEET_HOUR, now);
  }
  fleet_end(a);
  fleet_end(b);
}

struct diff_result {
  double diffs, functions, alone; /* percent with a change, called changed, p_alone <= 0.05 */
  double found, covered;          /* percent of runs: f0 called changed, its interval right */
};

static void look(const struct comparison *comparison, struct fleet *a, struct fleet *b, double part,
                 struct diff_result *ret) {
  struct view_diff_row *rows;
  uint32_t count;
  bool has_change = false;
  if (view_diff(&a->tree, &b->tree, &a->arena, &rows, &count) != 0) abort();
  for (uint32_t i = 0; i < count; i++) {
    bool is_changed = rows[i].verdict == VIEW_CHANGED;
    has_change |= is_changed;
    ret->functions += is_changed * part / count;
    ret->alone += (rows[i].p_alone <= 0.05) * part / count;
    if (strcmp(rows[i].name, "f0") != 0) continue;
    ret->found += is_changed * part;
    ret->covered +=
        (rows[i].low <= comparison->change && comparison->change <= rows[i].high) * part;
  }
  ret->diffs += has_change * part;
}

static struct diff_result compare(struct random *random, unsigned runs,
                                  const struct comparison *comparison) {
  struct diff_result result = {0};
  for (unsigned run = 0; run < runs; run++) {
    struct fleet a, b;
    draw_sides(random, comparison, &a, &b);
    look(comparison, &a, &b, 100. / runs, &result);
    fleet_fini(&a);
    fleet_fini(&b);
  }
  return result;
}

static void print_nothing_changed(unsigned runs) {
  static const unsigned boards[] = {2, 3, 5, 10, 20, 64, 200};
  printf(
      "\nNothing changed: percent of %u diffs of 50 functions, an hour at 99 Hz\n\n"
      "| boards | a side | diffs with any `changed` | functions `changed` | functions with p_alone "
      "at most 0.05 | intervals that cover 0 |\n|---|---|---|---|---|---|\n",
      runs);
  for (unsigned paired = 0; paired < 2; paired++)
    for (unsigned i = 0; i < sizeof boards / sizeof *boards; i++) {
      struct random random = {50 * i + paired};
      const struct comparison comparison = {50, boards[i], 0.02, 0.005, 0, paired};
      struct diff_result result = compare(&random, runs, &comparison);
      printf("| %s | %u | %.1f | %.2f | %.1f | %.1f |\n", paired ? "the same" : "others", boards[i],
             result.diffs, result.functions, result.alone, result.covered);
      expect("diffs of nothing", runs, result.diffs, 0, 5);
      fflush(stdout);
    }
}

static void print_change(unsigned runs) {
  static const unsigned boards[] = {2, 3, 5, 10, 20};
  static const double changes[] = {0.005, 0.01, 0.02, 0.05};
  printf(
      "\nA function of 20 %% that changed: percent of %u diffs of 50 functions that find it (in "
      "brackets: whose interval covers the change); boards' SD 2 points, one board's from time to "
      "time 0.5\n\n| boards | a side | 0.5 points | 1 point | 2 points | 5 points |\n"
      "|---|---|---|---|---|---|\n",
      runs);
  for (unsigned paired = 0; paired < 2; paired++)
    for (unsigned i = 0; i < sizeof boards / sizeof *boards; i++) {
      printf("| %s | %u |", paired ? "the same" : "others", boards[i]);
      for (unsigned j = 0; j < sizeof changes / sizeof *changes; j++) {
        struct random random = {500 * i + 50 * j + paired};
        const struct comparison comparison = {50, boards[i], 0.02, 0.005, changes[j], paired};
        struct diff_result result = compare(&random, runs, &comparison);
        printf(" %.1f (%.1f) |", result.found, result.covered);
        fflush(stdout);
        if (boards[i] == 20 && changes[j] == 0.05)
          expect("5 points among 20 boards", runs, result.found, 95, 100);
      }
      printf("\n");
    }
}

int main(int argc, char **argv) {
  unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000;
  const char *part = argc > 2 ? argv[2] : "";
  bool is_all = *part == '\0';
  if (is_all || strcmp(part, "coverage") == 0) print_coverage(runs, true);
  if (is_all || strcmp(part, "loads") == 0) print_coverage(runs, false);
  if (is_all || strcmp(part, "time") == 0) print_time(runs);
  if (is_all || strcmp(part, "nothing") == 0) print_nothing_changed(runs);
  if (is_all || strcmp(part, "change") == 0) print_change(runs);
  return breaches > 0;
}
