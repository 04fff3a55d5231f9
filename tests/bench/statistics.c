/* SPDX-License-Identifier: Apache-2.0 */
/* How often intervals of shares cover the truth: tables of docs/statistics.md (verdicts.c has those
   of differences). Fleets are simulated; everything else is the collector's code.

     statistics [RUNS [coverage|loads|time|unsampled]]       1000 runs a cell by default

   Exits with 1 if a figure differs from the claim of docs/statistics.md by more than three standard
   errors of the figure. The claims: intervals cover the truth 93 to 97 times of 100 if boards
   differ by at most half of the share. They cover no less if boards do not differ, for one board's
   own time, and with unsampled time. */
#include "tests/unit/view/fleet_fixture.h"

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

/* Counts a breach if GOT percent of RUNS is outside of LOW to HIGH. */
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

/* Percent of RUNS whose interval contains SHARE. A deviation above the share itself is unrealistic
   and is cut there. */
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

/* For an SD as large as the share the figure is printed, but nothing is claimed. */
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

/* A program with two phases: in the first, 90 % of a second is in f0, in the second nothing. They
   last LENGTH seconds on average. 0: independent samples. */
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
  double own, long_run; /* percent that cover the share of that time, and of all times */
};

static struct time_result time_coverage(struct random *random, unsigned runs, double share,
                                        double length, unsigned seconds) {
  struct time_result result = {0, 0};
  for (unsigned run = 0; run < runs; run++) {
    struct fleet fleet;
    struct phases phases = {share, length, random_uniform(random) < share / 0.9};
    double own = 0;
    fleet_init(&fleet, random, 2);
    for (unsigned second = 0; second < seconds; second++) {
      double now = second_of(random, &phases);
      const double parts[] = {now, 1 - now};
      uint64_t start_ms = second / 10 * 10000;
      fleet_add(&fleet, 0, start_ms, start_ms + 10000, 99, parts);
      own += now / seconds;
    }
    fleet_end(&fleet);
    struct view_share seen = fleet_share(&fleet);
    result.own += covers(&seen, own) * 100. / runs;
    result.long_run += covers(&seen, share) * 100. / runs;
    fleet_fini(&fleet);
  }
  return result;
}

static void print_time(unsigned runs) {
  static const unsigned lengths[] = {0, 5, 30, 120}, seconds[] = {2, 60, 600, 3600};
  printf(
      "\nPercent of %u intervals of one board that cover the share in that time (in brackets: the "
      "share at all times, 20 %%)\n\n| phases of | 2 s | 1 min | 10 min | 1 h "
      "|\n|---|---|---|---|---|\n",
      runs);
  for (unsigned l = 0; l < 4; l++) {
    printf(lengths[l] ? "| %u s |" : "| none |", lengths[l]);
    for (unsigned i = 0; i < 4; i++) {
      struct random random = {77 * l + i};
      struct time_result result = time_coverage(&random, runs, 0.2, lengths[l], seconds[i]);
      expect("one board's own time", runs, result.own, 93, 100);
      printf(" %.1f (%.1f) |", result.own, result.long_run);
      fflush(stdout);
    }
    printf("\n");
  }
}

enum { DARK_FLEETS = 5 };

/* Boards with 10 % in f0 of the sampled time (SD 2) and MEAN unsampled (SD half of that), of which
   PART is f0's. The reference is the own share for one board, and the share of all boards like
   these for several. */
static double dark_coverage(struct random *random, unsigned runs, unsigned boards, double mean,
                            double part) {
  unsigned covered = 0;
  for (unsigned run = 0; run < runs; run++) {
    struct fleet fleet;
    double truth = 0.1 * (1 - mean) + part * mean;
    fleet_init(&fleet, random, 2);
    for (unsigned board = 0; board < boards; board++) {
      double own = random_beta(random, 0.1, 0.02), dark = random_beta(random, mean, mean / 2);
      const double parts[] = {own, 1 - own};
      fleet_add(&fleet, board, 0, 10000, (uint64_t)(FLEET_HOUR * (1 - dark)), parts);
      fleet_add_unsampled(&fleet, FLEET_HOUR * dark);
      if (boards == 1) truth = own * (1 - dark) + part * dark;
    }
    fleet_end(&fleet);
    struct view_share seen = fleet_share(&fleet);
    covered += covers(&seen, truth);
    fleet_fini(&fleet);
  }
  return 100. * covered / runs;
}

static void print_unsampled(unsigned runs) {
  static const unsigned boards[DARK_FLEETS] = {1, 2, 5, 20, 200};
  static const double means[] = {0.05, 0.2, 0.5}, parts[] = {0, 0.1, 0.5, 1};
  printf("\nPercent of %u intervals that cover the truth where time is unsampled\n\n| unsampled | "
         "of it in f0 | 1 board | 2 boards | 5 boards | 20 boards | 200 boards "
         "|\n|---|---|---|---|---|---|---|\n",
         runs);
  for (unsigned m = 0; m < 3; m++)
    for (unsigned p = 0; p < 4; p++) {
      printf("| %g %% | %g %% |", 100 * means[m], 100 * parts[p]);
      for (unsigned i = 0; i < DARK_FLEETS; i++) {
        struct random random = {1000 * m + 100 * p + i + 1};
        double got = dark_coverage(&random, runs, boards[i], means[m], parts[p]);
        expect("unsampled time", runs, got, 93, 100);
        printf(" %.1f |", got);
        fflush(stdout);
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
  if (is_all || strcmp(part, "unsampled") == 0) print_unsampled(runs);
  return breaches > 0;
}
