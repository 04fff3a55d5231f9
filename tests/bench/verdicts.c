/* SPDX-License-Identifier: Apache-2.0 */
/* Error rates of the verdicts of differences: tables of docs/statistics.md. Boards and runs are
   simulated; everything else is the collector's code.

     verdicts [RUNS [nothing|change|runs|best|detectable|hidden]]   1000 runs a cell by
   default

   Exits with 1 if a figure differs from the claim of docs/statistics.md by more than three standard
   errors of the figure. The claims: without a change at most 5 diffs of 100 call anything changed.
   A change of the size printed as detectable is found 80 times of 100, at least 75. */
#include "tests/unit/view/fleet_fixture.h"

#include "view/diff.h"
#include "view/student.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned breaches;

/* Counts a breach if GOT percent of RUNS is outside of LOW to HIGH. */
static void expect(const char *what, unsigned runs, double got, double low, double high) {
  double error = 3 * 100 * sqrt(0.05 * 0.95 / runs);
  if (got >= low - error && got <= high + error) return;
  fprintf(stderr, "outside: %s: %.1f is not from %g to %g\n", what, got, low, high);
  breaches++;
}

/* The compared data: FUNCTIONS, the first of which has 20 % on average and CHANGE more on side b.
 */
struct comparison {
  unsigned functions, boards;
  double deviation; /* of f0 between boards, in shares; the others vary in proportion */
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

/* BOARD's shares in one period, with f0's larger by CHANGE. */
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
  double found, covered;          /* percent of runs: f0 called changed; its interval is right */
  double judged;                  /* percent of runs with units enough for a verdict */
  double detectable;              /* mean of f0's, where it exists */
};

/* Adds one diff, weighted PART percent, in which f0 has CHANGE more. */
static void look(double change, struct fleet *a, struct fleet *b, double part,
                 struct diff_result *ret) {
  static const struct view_diff_options options = {
      .measure = VIEW_SHARES, .of = VIEW_TOTAL, .units = {"run", 1, 1}};
  struct view_diff diff;
  bool has_change = false;
  if (view_diff(&a->tree, &b->tree, &options, &a->arena, &diff) != 0) abort();
  for (uint32_t i = 0; i < diff.count; i++) {
    const struct view_change *share = &diff.rows[i].total;
    bool is_changed = view_verdict_is_change(share->verdict);
    has_change |= is_changed;
    ret->functions += is_changed * part / diff.count;
    ret->alone += (share->p_alone <= 0.05) * part / diff.count;
    if (strcmp(diff.rows[i].name, "f0") != 0) continue;
    ret->found += is_changed * part;
    ret->covered += (share->is_tested && share->low <= change && change <= share->high) * part;
    ret->judged += share->is_tested * part;
    if (share->is_tested) ret->detectable += share->detectable * part / 100;
  }
  ret->diffs += has_change * part;
}

static struct diff_result compare(struct random *random, unsigned runs,
                                  const struct comparison *comparison) {
  struct diff_result result = {0};
  for (unsigned run = 0; run < runs; run++) {
    struct fleet a, b;
    draw_sides(random, comparison, &a, &b);
    look(comparison->change, &a, &b, 100. / runs, &result);
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

/* ---- two runs ---- */

/* A program that changes at random: in a phase of one kind f0's share is larger by the factor SWING
   of itself, in the other smaller. Phases last PHASE seconds each, or on average. */
struct program {
  double phase, swing;
  bool is_random; /* lengths are exponential */
};

struct pair {
  struct program program;
  double seconds, change;
  double unsampled; /* of f0's time on side b: nothing sampled it */
  unsigned boards;  /* 0: a single board; each side has its own, compared as these boards */
};

enum {
  RUN_FUNCTIONS = 20,
  RUN_HZ = 499,
  RUN_WINDOWS = 100,
  MORE_WINDOWS = 300, /* of several boards: each stretch has some of each */
  PHASES_MIN = 15,    /* fewer phases in a run support no claim */
};

static double next_phase(struct random *random, const struct program *program) {
  return program->is_random ? -program->phase * log(random_uniform(random)) : program->phase;
}

/* One board's program, drawn from its own phases. */
static void draw_board_run(struct random *random, const struct pair *pair, bool is_b,
                           unsigned board, struct fleet *ret) {
  const struct program *program = &pair->program;
  unsigned windows = pair->boards > 1 ? MORE_WINDOWS : RUN_WINDOWS;
  double window = pair->seconds / windows, left = 0, sign = 1;
  double base = 0.2 + (is_b ? pair->change : 0), hidden = is_b ? pair->unsampled : 0;
  for (unsigned i = 0; i < windows; i++) {
    double share = 0;
    for (double gone = 0; gone < window;) {
      if (!(left > 0)) {
        left = program->phase > 0 ? next_phase(random, program) : window;
        sign = random_uniform(random) < 0.5 ? 1 : -1;
      }
      double step = fmin(left, window - gone);
      share += step / window * base * (1 + (program->phase > 0 ? sign * program->swing : 0));
      left -= step, gone += step;
    }
    double seen = 1 - share * hidden, sum = 0; /* of the time; of the sampled time: */
    double shares[RUN_FUNCTIONS] = {fmin(share * (1 - hidden) / seen, 1)};
    for (unsigned j = 1; j < RUN_FUNCTIONS; j++) sum += 1. / j;
    for (unsigned j = 1; j < RUN_FUNCTIONS; j++) shares[j] = (1 - shares[0]) / j / sum;
    uint64_t start_ms = (uint64_t)(1000 * window * i), end_ms = (uint64_t)(1000 * window * (i + 1));
    uint64_t samples = (uint64_t)lround(window * RUN_HZ * seen);
    fleet_add(ret, board, start_ms, end_ms, samples, shares);
    if (hidden > 0) fleet_add_unsampled(ret, share * hidden * window * RUN_HZ);
  }
}

static void draw_run(struct random *random, const struct pair *pair, bool is_b, struct fleet *ret) {
  fleet_init(ret, random, RUN_FUNCTIONS);
  ret->builder.groups.is_of_times = true;
  for (unsigned i = 0; i < (pair->boards > 0 ? pair->boards : 1); i++)
    draw_board_run(random, pair, is_b, i, ret);
  fleet_end(ret);
}

static struct diff_result compare_runs(struct random *random, unsigned runs,
                                       const struct pair *pair) {
  struct diff_result result = {0};
  for (unsigned run = 0; run < runs; run++) {
    struct fleet a, b;
    draw_run(random, pair, false, &a);
    draw_run(random, pair, true, &b);
    look(pair->change, &a, &b, 100. / runs, &result);
    fleet_fini(&a);
    fleet_fini(&b);
  }
  return result;
}

static const struct program programs[] = {
    {0, 0, false},    {0.02, 0.5, false}, {0.3, 0.5, false}, {0.3, 0.5, true},
    {0.3, 0.1, true}, {1, 0.2, true},     {3, 1, false},
};

enum { PROGRAMS = sizeof programs / sizeof *programs, BOARD_CASES = 3 };

static void print_program(const struct program *program) {
  if (program->phase > 0)
    printf("| %g s%s, %g %% |", program->phase, program->is_random ? " on average" : "",
           100 * program->swing);
  else
    printf("| none |");
}

static void print_runs(unsigned runs) {
  static const double seconds[] = {1, 5, 20, 60};
  static const unsigned boards[] = {1, 2, 4};
  printf("\nNothing changed, %u pairs of runs, 20 functions, 499 Hz: percent that call anything "
         "changed (in brackets: that have stretches enough for a verdict; of these, f0's intervals "
         "that cover 0).  Boards: these, together\n\n| boards | phases, swing | 1 s | 5 s | 20 s | "
         "60 s "
         "|\n|---|---|---|---|---|---|\n",
         runs);
  for (unsigned i = 0; i < BOARD_CASES * PROGRAMS; i++) {
    const struct program *program = &programs[i % PROGRAMS];
    printf("| %u ", boards[i / PROGRAMS]);
    print_program(program);
    for (unsigned j = 0; j < sizeof seconds / sizeof *seconds; j++) {
      struct random random = {7 * i + j + 1};
      const struct pair pair = {*program, seconds[j], 0, 0, boards[i / PROGRAMS]};
      struct diff_result result = compare_runs(&random, runs, &pair);
      double covered = result.judged > 0 ? 100 * result.covered / result.judged : NAN;
      printf(" %.1f (%.0f; %.1f) |", result.diffs, result.judged, covered);
      fflush(stdout);
      if (program->phase * PHASES_MIN <= seconds[j])
        expect("pairs of runs of nothing", runs, result.diffs, 0, 5);
    }
    printf("\n");
  }
}

/* ---- the best test with the same units ---- */

struct batches {
  unsigned count;
  double mean, variance; /* of f0's shares; of their mean */
};

static int earlier(const void *left, const void *right) {
  const struct group *a = *(const struct group *const *)left;
  const struct group *b = *(const struct group *const *)right;
  return a->id < b->id ? -1 : a->id > b->id;
}

/* The shares of function AT in BATCHES batches of the stretches of FLEET. */
static struct batches batches_of(const struct fleet *fleet, unsigned at) {
  enum { BATCHES = 12 };
  const struct groups *groups = &fleet->tree.groups;
  const struct group *order[GROUPS_MAX];
  double shares[BATCHES], part = 0, whole = 0;
  struct batches ret = {0, 0, 0};
  unsigned length = (groups->count + BATCHES - 1) / BATCHES;
  for (unsigned i = 0; i < groups->count; i++) order[i] = &groups->group[i];
  qsort(order, groups->count, sizeof *order, earlier);
  for (unsigned i = 0; i < groups->count; i++) {
    part += (double)groups_weight(groups, (unsigned)(order[i] - groups->group), fleet->nodes[at]);
    whole += (double)order[i]->weight;
    if (i + 1 < groups->count && (i + 1) % length != 0) continue;
    shares[ret.count++] = part / whole;
    part = whole = 0;
  }
  for (unsigned i = 0; i < ret.count; i++) ret.mean += shares[i] / ret.count;
  for (unsigned i = 0; i < ret.count; i++)
    ret.variance += pow(shares[i] - ret.mean, 2) / ret.count / (ret.count - 1);
  return ret;
}

static double welch(const struct fleet *a, const struct fleet *b, unsigned at) {
  struct batches of_a = batches_of(a, at), of_b = batches_of(b, at);
  double variance = of_a.variance + of_b.variance;
  double df = variance * variance /
              (of_a.variance * of_a.variance / (of_a.count - 1) +
               of_b.variance * of_b.variance / (of_b.count - 1));
  return variance > 0 ? student_p((of_b.mean - of_a.mean) / sqrt(variance), df) : 1;
}

/* Whether Welch's test of all functions, adjusted like ours, calls f0 changed. */
static bool welch_finds(const struct fleet *a, const struct fleet *b) {
  double own = welch(a, b, 0), least = 1;
  unsigned smaller = 0;
  double p[RUN_FUNCTIONS];
  for (unsigned i = 0; i < RUN_FUNCTIONS; i++) p[i] = welch(a, b, i);
  for (unsigned i = 0; i < RUN_FUNCTIONS; i++) {
    smaller = 0;
    for (unsigned j = 0; j < RUN_FUNCTIONS; j++) smaller += p[j] <= p[i];
    if (p[i] >= own) least = fmin(least, p[i] * RUN_FUNCTIONS / smaller);
  }
  return least <= 0.05;
}

/* Independent stretches, for which Welch's test is the best available. */
static void print_best(unsigned runs) {
  static const double changes[] = {0.01, 0.02, 0.03, 0.05};
  printf(
      "\nA change of f0 (20 %%), %u pairs of runs of 20 s: percent found, and by Welch's test of "
      "the same batches\n\n| phases, swing | 1 point | 2 points | 3 points | 5 points "
      "|\n|---|---|---|---|---|\n",
      runs);
  for (unsigned i = 0; i < 2; i++) {
    print_program(&programs[i]);
    for (unsigned j = 0; j < sizeof changes / sizeof *changes; j++) {
      struct random random = {70 * i + j + 1};
      const struct pair pair = {programs[i], 20, changes[j], 0, 1};
      struct diff_result result = {0};
      double best = 0, part = 100. / runs;
      for (unsigned run = 0; run < runs; run++) {
        struct fleet a, b;
        draw_run(&random, &pair, false, &a);
        draw_run(&random, &pair, true, &b);
        look(pair.change, &a, &b, part, &result);
        best += welch_finds(&a, &b) * part;
        fleet_fini(&a);
        fleet_fini(&b);
      }
      printf(" %.1f, %.1f |", result.found, best);
      fflush(stdout);
      expect("as often as the best test", runs, result.found, best - 10, 100);
    }
    printf("\n");
  }
}

/* The change that is printed as detectable, and how often it is found. */
static void print_detectable(unsigned runs) {
  printf(
      "\nWhat is printed as detectable of f0 (20 %%), and how often it is found where there is a "
      "verdict, %u pairs\n\n"
      "| phases, swing | seconds | detectable | found |\n|---|---|---|---|\n",
      runs);
  for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
    struct random random = {900 + i};
    struct pair pair = {programs[i], 60, 0, 0, 1};
    struct diff_result nothing = compare_runs(&random, runs, &pair);
    if (!(nothing.judged > 90)) continue;
    pair.change = nothing.detectable * 100 / nothing.judged;
    struct diff_result result = compare_runs(&random, runs, &pair);
    print_program(&programs[i]);
    double found = 100 * result.found / result.judged;
    printf(" 60 | %.2f points | %.1f |\n", 100 * pair.change, found);
    expect("detectable", runs, found, 75, 100);
  }
  for (unsigned boards = 5; boards <= 20; boards *= 2) {
    struct random random = {990 + boards};
    struct comparison comparison = {50, boards, 0.02, 0.005, 0, false};
    struct diff_result nothing = compare(&random, runs, &comparison);
    comparison.change = nothing.detectable;
    struct diff_result result = compare(&random, runs, &comparison);
    printf("| %u boards a side | an hour | %.2f points | %.1f |\n", boards, 100 * comparison.change,
           result.found);
    expect("detectable by boards", runs, result.found, 75, 100);
  }
}

static void print_hidden(unsigned runs) {
  static const double parts[] = {0.1, 0.5, 0.9};
  printf("\nOf f0 (20 %% on both sides) a part was not sampled on b: percent of %u pairs that call "
         "anything changed, and whose interval covers 0\n\n| part | changed | covered "
         "|\n|---|---|---|\n",
         runs);
  for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
    struct random random = {40 + i};
    const struct pair pair = {programs[0], 20, 0, parts[i], 1};
    struct diff_result result = compare_runs(&random, runs, &pair);
    printf("| %g %% | %.1f | %.1f |\n", 100 * parts[i], result.diffs, result.covered);
    expect("hidden time", runs, result.diffs, 0, 5);
    expect("hidden time covered", runs, result.covered, 93, 100);
  }
}

int main(int argc, char **argv) {
  unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000;
  const char *part = argc > 2 ? argv[2] : "";
  bool is_all = *part == '\0';
  if (is_all || strcmp(part, "nothing") == 0) print_nothing_changed(runs);
  if (is_all || strcmp(part, "change") == 0) print_change(runs);
  if (is_all || strcmp(part, "runs") == 0) print_runs(runs);
  if (is_all || strcmp(part, "best") == 0) print_best(runs);
  if (is_all || strcmp(part, "detectable") == 0) print_detectable(runs);
  if (is_all || strcmp(part, "hidden") == 0) print_hidden(runs);
  return breaches > 0;
}
