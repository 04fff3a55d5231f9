/* SPDX-License-Identifier: Apache-2.0 */
/* Error rates of verdicts about CPU time: a table of docs/statistics.md. Boards and runs are
   simulated; everything else is the collector's code.

     loads [RUNS]   1000 runs a cell by default

   Exits with 1 if a figure differs from the claim of docs/statistics.md by more than three standard
   errors of the figure. */
#include "tests/unit/view/fleet_fixture.h"

#include "common/table.h"
#include "view/diff.h"

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

/* Boards whose CPU time and f0's share vary. Scope fleet: from board to board. Scope of these
   boards: from one window to the next, where neighbours are similar. */
struct load_case {
  const char *name;
  unsigned boards;
  bool is_these, is_paired, are_files;
};

static const struct load_case load_cases[] = {
    {"two files", 1, true, false, true},   {"these", 1, true, false, false},
    {"these", 2, true, false, false},      {"these", 5, true, false, false},
    {"these", 20, true, false, false},     {"others", 2, false, false, false},
    {"others", 5, false, false, false},    {"others", 20, false, false, false},
    {"others", 200, false, false, false},  {"the same", 2, false, true, false},
    {"the same", 5, false, true, false},   {"the same", 20, false, true, false},
    {"the same", 200, false, true, false},
};

enum { LOAD_FUNCTIONS = 10, LOAD_WINDOWS = 180, LOAD_WINDOW_MS = 10000 };

static const double load_deviation = 0.3;  /* of boards, or of windows */
static const double run_deviation = 0.036; /* of runs: two differ by 10 % in one of twenty cases */
static const double alike = 0.7;           /* correlation of neighbouring windows */

/* One board's load and f0's share, relative to their means. */
struct load_state {
  double load, share;
};

static void next_state(struct random *random, double correlation, struct load_state *state) {
  double rest = sqrt(1 - correlation * correlation);
  state->load = correlation * state->load + rest * random_normal(random);
  state->share = correlation * state->share + rest * random_normal(random);
}

/* Adds a window in which SAMPLES are taken on average, GROWTH times as many of f0, a part HIDDEN of
   which was not sampled. */
static void add_loaded(struct fleet *fleet, unsigned board, uint64_t start_ms, double samples,
                       const struct load_state *state, double growth, double hidden) {
  double share = 0.2 * (1 + load_deviation * fmax(state->share, -3)), sum = 0;
  double of_f0 = samples * share * growth, of_others = samples * (1 - share);
  double seen = of_f0 * (1 - hidden) + of_others;
  double shares[LOAD_FUNCTIONS] = {of_f0 * (1 - hidden) / seen};
  for (unsigned i = 1; i < LOAD_FUNCTIONS; i++) sum += 1. / i;
  for (unsigned i = 1; i < LOAD_FUNCTIONS; i++) shares[i] = (1 - shares[0]) / i / sum;
  uint64_t whole = (uint64_t)(seen + random_uniform(fleet->random));
  fleet_add(fleet, board, start_ms, start_ms + LOAD_WINDOW_MS, whole, shares);
  if (hidden > 0) fleet_add_unsampled(fleet, of_f0 * hidden);
}

static void draw_these(struct random *random, const struct load_case *of, double growth,
                       double hidden, struct fleet *ret) {
  double run = of->are_files ? exp(run_deviation * random_normal(random)) : 1;
  for (unsigned board = 0; board < of->boards; board++) {
    struct load_state state = {0, 0};
    next_state(random, 0, &state);
    for (unsigned i = 0; i < LOAD_WINDOWS; i++) {
      double load = of->are_files ? 1 : 1 + load_deviation * fmax(state.load, -3);
      add_loaded(ret, board, board * 1300 + i * LOAD_WINDOW_MS, 400 * run * load / (1 + board),
                 &state, growth, hidden);
      next_state(random, alike, &state);
    }
  }
}

/* As many boards a group as their names make. */
static void count_boards(struct fleet *fleet, unsigned first, unsigned boards) {
  struct groups *groups = &fleet->tree.groups;
  for (unsigned i = first; i < first + boards && groups->kind == GROUPS_HASHED; i++) {
    char name[32];
    snprintf(name, sizeof name, "board-%u", i);
    uint64_t id = table_hash(name, strlen(name), 0) % groups->modulus;
    for (unsigned j = 0; j < groups->count; j++)
      groups->group[j].boards += groups->group[j].id == id;
  }
}

static void draw_loads(struct random *random, const struct load_case *of, double growth,
                       double hidden, struct fleet *a, struct fleet *b) {
  struct fleet *const sides[2] = {a, b};
  for (unsigned i = 0; i < 2; i++) {
    fleet_init(sides[i], random, LOAD_FUNCTIONS);
    sides[i]->builder.groups.is_of_times = of->is_these;
    if (of->is_these) draw_these(random, of, i == 1 ? growth : 1, i == 1 ? hidden : 0, sides[i]);
  }
  for (unsigned board = 0; board < of->boards && !of->is_these; board++) {
    struct load_state state = {0, 0};
    next_state(random, 0, &state);
    for (unsigned i = 0; i < 2; i++) {
      double load = 20000 * (1 + load_deviation * fmax(state.load, -3));
      unsigned number = board + (i == 1 && !of->is_paired ? of->boards : 0);
      add_loaded(sides[i], number, 0, load, &state, i == 1 ? growth : 1, i == 1 ? hidden : 0);
      next_state(random, of->is_paired ? 0.95 : 0, &state);
    }
  }
  for (unsigned i = 0; i < 2; i++) {
    fleet_end(sides[i]);
    count_boards(sides[i], i == 1 && !of->is_paired ? of->boards : 0, of->boards);
  }
}

struct load_result {
  double changed, rows; /* percent: the whole is called changed; any function is */
  double whole, cpu;    /* intervals that hold the truth: of the whole, of f0's CPU time */
  double judged;        /* of f0 */
};

static struct load_result compare_loads(struct random *random, unsigned runs,
                                        const struct load_case *of, double growth, double hidden) {
  const char *unit = of->are_files ? "run" : "board-hour";
  const struct view_diff_options options = {
      .measure = VIEW_CPU, .of = VIEW_TOTAL, .units = {unit, of->boards, of->boards}};
  double change = 0.2 * (growth - 1), part = 100. / runs;
  struct load_result ret = {0};
  for (unsigned run = 0; run < runs; run++) {
    struct fleet a, b;
    struct view_diff diff;
    draw_loads(random, of, growth, hidden, &a, &b);
    if (view_diff(&a.tree, &b.tree, &options, &a.arena, &diff) != 0) abort();
    bool has_change = false;
    ret.changed += view_verdict_is_change(diff.whole.verdict) * part;
    ret.whole += (diff.whole.low <= 1 + change && 1 + change <= diff.whole.high) * part;
    for (uint32_t i = 0; i < diff.count; i++) {
      const struct view_change *cpu = &diff.rows[i].cpu;
      has_change |= view_verdict_is_change(cpu->verdict);
      if (strcmp(diff.rows[i].name, "f0") != 0) continue;
      ret.judged += cpu->is_tested * part;
      ret.cpu += (cpu->is_tested && cpu->low <= change && change <= cpu->high) * part;
    }
    ret.rows += has_change * part;
    fleet_fini(&a);
    fleet_fini(&b);
  }
  if (ret.judged > 0) ret.cpu *= 100 / ret.judged;
  return ret;
}

static void print_loads(unsigned runs) {
  printf(
      "\nCPU time that varies by 30 %%, of boards like these from one to the next, of these from "
      "one window to the next (correlation 0.7): percent of %u diffs of nothing that call "
      "anything changed; whose intervals of the whole and of f0's CPU time hold the truth; the "
      "same where f0 takes half as much again; and where a third of f0's time was not sampled on "
      "b\n\n| boards | a side | changed | whole, cpu | half as much again | unsampled "
      "|\n|---|---|---|---|---|---|\n",
      runs);
  for (unsigned i = 0; i < sizeof load_cases / sizeof *load_cases; i++) {
    const struct load_case *of = &load_cases[i];
    struct random random = {3000 + i};
    struct load_result nothing = compare_loads(&random, runs, of, 1, 0);
    struct load_result more = compare_loads(&random, runs, of, 1.5, 0);
    struct load_result dark = compare_loads(&random, runs, of, 1, 1. / 3);
    printf("| %s | %u | %.1f, %.1f | %.1f, %.1f | %.1f, %.1f | %.1f, %.1f |\n", of->name,
           of->boards, nothing.changed, nothing.rows, nothing.whole, nothing.cpu, more.whole,
           more.cpu, dark.whole, dark.cpu);
    fflush(stdout);
    expect("the whole of nothing", runs, nothing.changed, 0, 5);
    expect("functions of nothing", runs, nothing.rows, 0, 5);
    expect("whole", runs, nothing.whole, 93, 97);
    expect("cpu", runs, nothing.cpu, 93, of->are_files ? 100 : 97);
    expect("whole that grew", runs, more.whole, 93, 97);
    expect("cpu that grew", runs, more.cpu, 93, of->are_files ? 100 : 97);
    expect("cpu without samples", runs, dark.cpu, 93, 100);
  }
}

int main(int argc, char **argv) {
  print_loads(argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000);
  return breaches > 0;
}
