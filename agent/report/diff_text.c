/* SPDX-License-Identifier: Apache-2.0 */
/* First the CPU time of the whole, which shows whether the program uses more.  Then the signed
   table, the largest difference first.  Each row has its interval, its verdict and, if that is no
   change, the smallest detectable change.

   The columns are headed by the names of the two files if they fit, else by a and b.

   Some unclear rows look like mistakes: their interval excludes 0, or the change is all or nothing.
   The reasons are printed below the table. */
#include "diff_text.h"

#include "common/buf.h"
#include "common/json.h"
#include "common/path.h"
#include "view/contrast.h"
#include "view/diff_json.h"
#include "view/pseudo_hints.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RED "\033[31m"
#define GREEN "\033[32m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

static const double moved_shown = 0.5; /* part of a change that must have moved */

enum {
  HEADING_BYTES_MAX = 14,
  COLUMN_BYTES = 7,
  NUMBER_BYTES = 24,
  END_BYTES = 6,       /* width of an end of an interval, in points */
  TIME_END_BYTES = 10, /* the same in CPU time */
  MOVED_MAX = 4,
  OTHER_COLUMNS = 43, /* of a row before its name, except headings and interval */
};

struct headings {
  const char *a, *b;
};

static struct headings headings_of(const struct diff_sides *sides) {
  const struct headings names = {path_name(sides->a_name), path_name(sides->b_name)};
  bool is_short = strlen(names.a) <= HEADING_BYTES_MAX && strlen(names.b) <= HEADING_BYTES_MAX;
  bool has_names = !sides->is_by_letter && is_short && strcmp(names.a, names.b) != 0;
  return has_names ? names : (struct headings){"a", "b"};
}

static void print_total(const char *heading, const char *name, const struct view_tree *tree,
                        struct buf *ret) {
  buf_printf(ret, "%s%s%s: ", heading[1] == '\0' ? heading : "", heading[1] == '\0' ? " = " : "",
             name);
  top_text_print_total(tree, ret);
  if (tree->total_weight == 0)
    buf_append_string(ret,
                      ": nothing was sampled there; is it the right name, and the right time?");
  buf_append_byte(ret, '\n');
}

static int width_of(const char *heading) {
  int len = (int)strlen(heading);
  return len > COLUMN_BYTES ? len : COLUMN_BYTES;
}

/* PART in percent with its sign, unless it rounds to 0. */
static const char *print_signed(double part, const char *unit, char ret[NUMBER_BYTES]) {
  double tenths = round(1000 * part);
  if (!isfinite(part)) return "?";
  snprintf(ret, NUMBER_BYTES, tenths == 0 ? "%.1f%s" : "%+.1f%s",
           fabs(tenths) == 0 ? 0 : tenths / 10, unit);
  return ret;
}

/* The smallest change that would be detected 4 times of 5; "" for a change. */
static const char *print_detectable(enum view_verdict verdict, double detectable,
                                    char ret[NUMBER_BYTES]) {
  ret[0] = '\0';
  if (view_verdict_is_change(verdict)) return ret;
  if (!isfinite(detectable))
    snprintf(ret, NUMBER_BYTES, "none");
  else
    snprintf(ret, NUMBER_BYTES, detectable < 0.0995 ? "%.1f %%" : "%.0f %%", 100 * detectable);
  return ret;
}

static const char *colour_of(enum view_verdict verdict, double difference,
                             const struct top_text *style) {
  if (!style->has_colour) return "";
  if (!view_verdict_is_change(verdict)) return DIM;
  return difference > 0 ? RED : GREEN;
}

static void print_seconds(double ns, struct buf *ret) {
  if (ns >= 1e9 || ns <= 0)
    buf_printf(ret, "%.2f s", ns / 1e9);
  else if (ns >= 1e6)
    buf_printf(ret, "%.2f ms", ns / 1e6);
  else if (ns >= 1e3)
    buf_printf(ret, "%.2f us", ns / 1e3);
  else
    buf_printf(ret, "%.2f ns", ns);
}

/* Whether the user named the unit of CPU time. */
static bool has_own_unit(const struct view_diff *diff) {
  static const char *const usual[] = {"", "run", "board-hour"};
  for (unsigned i = 0; i < sizeof usual / sizeof *usual; i++)
    if (strcmp(diff->options.units.name, usual[i]) == 0) return false;
  return true;
}

/* Whether rows are in CPU time per unit.  Then percentages of the whole would be mistaken for
   percentages of the function. */
static bool is_in_time(const struct view_diff *diff) {
  return has_own_unit(diff) && diff->options.measure == VIEW_CPU;
}

/* NS in three digits, signed if HAS_SIGN. */
static const char *print_time(double ns, bool has_sign, char ret[NUMBER_BYTES]) {
  static const struct {
    double ns;
    const char *name;
  } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  enum { LAST = sizeof units / sizeof *units - 1 };
  static const double rounded = 0.9995; /* part of the next unit: 999.6 us are 1 ms */
  unsigned at = 0;
  if (!isfinite(ns)) return "?";
  if (ns == 0) return "0";
  while (at < LAST && fabs(ns) < rounded * units[at].ns) at++;
  snprintf(ret, NUMBER_BYTES, has_sign ? "%+.3g %s" : "%.3g %s", ns / units[at].ns, units[at].name);
  return ret;
}

/* A difference or an end of its interval: time per unit, or PART in percent with UNIT. */
static const char *print_part(const struct view_diff *diff, double part, const char *unit,
                              char ret[NUMBER_BYTES]) {
  static const double nothing = 1e-9; /* of the whole: rounding error of a double */
  if (!is_in_time(diff)) return print_signed(part, unit, ret);
  return print_time(fabs(part) < nothing ? 0 : part * diff->whole.a, true, ret);
}

/* Appends one side's value of a row. */
static void print_side(const struct view_diff *diff, double part, int width, struct buf *ret) {
  char text[NUMBER_BYTES];
  if (is_in_time(diff))
    buf_printf(ret, "%*s  ", width, print_time(part * diff->whole.a, false, text));
  else
    buf_printf(ret, "%*.1f %%  ", width - 2, 100 * part);
}

static int end_width(const struct view_diff *diff) {
  return is_in_time(diff) ? TIME_END_BYTES : END_BYTES;
}

static void print_row(const struct view_diff *diff, const struct view_diff_row *row, bool is_alike,
                      const struct headings *headings, const struct top_text *style,
                      struct buf *ret) {
  char difference[NUMBER_BYTES], low[NUMBER_BYTES], high[NUMBER_BYTES], detectable[NUMBER_BYTES];
  const struct view_change *change = view_diff_change(&diff->options, row);
  const struct top_text_row text = {
      .name = row->name, .module = row->module, .file = row->file, .is_alike = is_alike};
  int end = end_width(diff);
  unsigned used =
      (unsigned)(width_of(headings->a) + width_of(headings->b) + 2 * end) + OTHER_COLUMNS;
  const char *colour = colour_of(change->verdict, change->difference, style);
  const char *plain = style->has_colour ? PLAIN : "";
  print_side(diff, change->a, width_of(headings->a), ret);
  print_side(diff, change->b, width_of(headings->b), ret);
  buf_printf(ret, "%s%10s%s  %*s .. %*s  ", colour,
             print_part(diff, change->difference, " %", difference), plain, end,
             print_part(diff, change->low, "", low), end, print_part(diff, change->high, "", high));
  const char *least = print_detectable(change->verdict, change->detectable, detectable);
  if (is_in_time(diff) && least[0] != '\0' && isfinite(change->detectable))
    least = print_time(change->detectable * diff->whole.a, false, detectable);
  buf_printf(ret, "%10s  %s%-7s%s  ", least, colour, view_verdict_name(change->verdict), plain);
  top_text_print_name(&text, used, style, ret);
}

static int print_rows(const struct view_diff *diff, uint32_t count, const struct headings *headings,
                      const struct top_text *style, struct buf *ret) {
  struct top_text_row *texts = calloc((size_t)count + 1, sizeof *texts);
  if (texts == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < count; i++)
    texts[i] = (struct top_text_row){.name = diff->rows[i].name, .module = diff->rows[i].module};
  int error = top_text_tell_apart(texts, count);
  for (uint32_t i = 0; i < count && error == 0; i++)
    print_row(diff, &diff->rows[i], texts[i].is_alike, headings, style, ret);
  free(texts);
  return error;
}

/* Whether boards, or groups of them, are the sampling units. */
static bool is_by_boards(const struct view_diff *diff) {
  return strncmp(diff->basis.a.unit, "board", strlen("board")) == 0 &&
         strncmp(diff->basis.b.unit, "board", strlen("board")) == 0;
}

static const char *why_of(const struct view_diff *diff, enum view_doubt doubt) {
  switch (doubt) {
  case VIEW_SHORT:
    return is_by_boards(diff) ? ": too few boards" : ": too few independent stretches of time";
  case VIEW_HIDDEN:
    return ": time that was not sampled";
  case VIEW_RUNS:
    return ": as much as runs differ";
  case VIEW_CLOCKS:
    return ": clocks measured it, without samples";
  default:
    return "";
  }
}

/* Prints whether the program uses more CPU time. */
static void print_whole(const struct view_diff *diff, const struct top_text *style,
                        struct buf *ret) {
  const struct view_whole *whole = &diff->whole;
  char change[NUMBER_BYTES], low[NUMBER_BYTES], high[NUMBER_BYTES], least[NUMBER_BYTES];
  if (diff->options.units.name[0] == '\0') return; /* an earlier collector */
  buf_append_string(ret, "whole: ");
  print_seconds(whole->a, ret);
  buf_append_string(ret, " -> ");
  print_seconds(whole->b, ret);
  buf_printf(ret, " of CPU per %s", diff->options.units.name);
  if (isfinite(whole->ratio)) buf_printf(ret, ", %s", print_signed(whole->ratio - 1, " %", change));
  if (isfinite(whole->low) && isfinite(whole->high))
    buf_printf(ret, " (%s .. %s)", print_signed(whole->low - 1, "", low),
               print_signed(whole->high - 1, "", high));
  buf_printf(ret, "  %s%s%s%s", colour_of(whole->verdict, whole->b - whole->a, style),
             view_verdict_name(whole->verdict), style->has_colour ? PLAIN : "",
             whole->verdict == VIEW_UNCLEAR ? why_of(diff, whole->doubt) : "");
  print_detectable(whole->verdict, whole->detectable, least);
  if (least[0] != '\0') buf_printf(ret, "; detectable: %s", least);
  buf_append_byte(ret, '\n');
}

void diff_text_print_measure(const struct view_diff *diff, struct buf *ret) {
  const struct view_diff_options *options = &diff->options;
  bool is_cpu = options->measure == VIEW_CPU;
  buf_printf(ret, "%s of %s", is_cpu ? "CPU" : "share",
             options->of == VIEW_SELF ? "self" : "totals");
  if (is_cpu) buf_printf(ret, " per %s", options->units.name);
}

/* Appends the number of runs, or of the user's units, of both sides. */
static void print_counts(const struct view_diff *diff, struct buf *ret) {
  const struct view_diff_options *options = &diff->options;
  if (options->a_runs > 0)
    buf_printf(ret, "runs: %.0f of a, %.0f of b\n", options->a_runs, options->b_runs);
  if (has_own_unit(diff))
    buf_printf(ret, "units: %.10g %s of a, %.10g of b\n", options->units.a, options->units.name,
               options->units.b);
}

static void print_measure(const struct view_diff *diff, struct buf *ret) {
  buf_append_string(ret, "rows: ");
  diff_text_print_measure(diff, ret);
  buf_append_string(ret, is_in_time(diff)                    ? ", in CPU time of the function\n"
                         : diff->options.measure == VIEW_CPU ? ", as a part of all that a takes\n"
                                                             : ", of all that each side takes\n");
}

static const char *scope_of(const struct view_diff *diff) {
  const struct view_diff_options *options = &diff->options;
  if (diff->scope == VIEW_FLEET) return "boards like these";
  if (options->a_runs + options->b_runs > 2) return "these runs";
  bool is_of_runs = options->a_runs > 0 || strcmp(options->units.name, "run") == 0;
  return is_of_runs ? "these two runs" : "these boards";
}

static void print_units(const struct view_basis *basis, struct buf *ret) {
  if (basis->units > 0) buf_printf(ret, "%u ", basis->units);
  buf_append_string(ret, basis->unit);
}

/* Appends the sampling units of the intervals, and their scope. */
static void print_basis(const struct view_diff *diff, struct buf *ret) {
  const struct view_diff_basis *basis = &diff->basis;
  buf_append_string(ret, "intervals: by ");
  if (strcmp(basis->a.unit, basis->b.unit) == 0 && basis->a.units > 0) {
    buf_printf(ret, "%u and %u %s", basis->a.units, basis->b.units, basis->b.unit);
  } else {
    print_units(&basis->a, ret);
    if (strcmp(basis->a.unit, basis->b.unit) != 0) {
      buf_append_string(ret, " and ");
      print_units(&basis->b, ret);
    }
  }
  if (basis->a_seconds > 0 && basis->b_seconds > 0)
    buf_printf(ret, " of %.3g s and %.3g s", basis->a_seconds, basis->b_seconds);
  if (basis->pairs > 0)
    buf_printf(ret, "; %u boards are on both sides and compared with themselves", basis->pairs);
  buf_printf(ret, "; about %s\n", scope_of(diff));
  if (basis->phase_seconds > 0)
    buf_printf(ret, "phases of the program that last more than %.2g s may look like a change\n",
               basis->phase_seconds);
}

/* Reports the first module without comparable names. */
static void print_unlike(const struct view_diff *diff, uint32_t count, struct buf *ret) {
  const char *first = "";
  bool has_more = false;
  for (uint32_t i = 0; i < count; i++) {
    const struct view_diff_row *row = &diff->rows[i];
    if (view_diff_change(&diff->options, row)->doubt != VIEW_UNLIKE) continue;
    has_more |= first[0] != '\0' && strcmp(first, row->module) != 0;
    if (first[0] == '\0') first = row->module;
  }
  buf_printf(ret,
             "%s%s: one side has names of debug information and the other of a symbol table, which "
             "has what is inlined under its caller: nothing there is called changed within what "
             "that may have moved (build both with -g, or strip -g both)\n",
             first, has_more ? " and others" : "");
}

/* Whether, of COUNT rows, some increase and some decrease. */
static bool is_both_ways(const struct view_diff *diff, uint32_t count) {
  bool is_more = false, is_less = false;
  for (uint32_t i = 0; i < count; i++) {
    const struct view_change *change = view_diff_change(&diff->options, &diff->rows[i]);
    if (!view_verdict_is_change(change->verdict)) continue;
    is_more |= change->difference > 0;
    is_less |= change->difference < 0;
  }
  return is_more && is_less;
}

/* Appends how much of either side was not sampled. */
static void print_hidden(const struct view_diff *diff, struct buf *ret) {
  double a = 0, b = 0;
  for (uint32_t i = 0; i < diff->count; i++) {
    if (strcmp(diff->rows[i].name, "[unsampled]") != 0) continue;
    a += diff->rows[i].self.a;
    b += diff->rows[i].self.b;
  }
  buf_printf(
      ret,
      "%.1f %% of a and %.1f %% of b was not sampled and may be any function's: intervals are "
      "as much wider\n",
      100 * a, 100 * b);
}

/* Explains unclear verdicts that lack independent samples.  OF is the number of rows by doubt. */
static void print_premises(const struct view_diff *diff, const uint32_t of[VIEW_RUNS + 1],
                           struct buf *ret) {
  const struct view_diff_basis *basis = &diff->basis;
  unsigned least = basis->a.units < basis->b.units ? basis->a.units : basis->b.units;
  if (of[VIEW_SHORT] > 0 && is_by_boards(diff))
    buf_printf(ret, "too few boards: %u; select more boards, or give --scope these\n", least);
  else if (of[VIEW_SHORT] > 0 && strcmp(diff->basis.a.unit, "samples") == 0)
    buf_append_string(ret, "the samples have no times (a histogram): how they vary is unknown\n");
  else if (of[VIEW_SHORT] > 0 && least < CONTRAST_INDEPENDENT_MIN)
    buf_printf(ret, "too few independent stretches of time: %u, %d are needed: let it run longer\n",
               least, CONTRAST_INDEPENDENT_MIN);
  else if (of[VIEW_SHORT] > 0)
    buf_printf(
        ret,
        "too few independent stretches of time for %u of the functions, which vary too slowly "
        "for this run: let it run longer\n",
        of[VIEW_SHORT]);
  if (of[VIEW_HIDDEN] > 0) print_hidden(diff, ret);
  if (of[VIEW_RUNS] > 0)
    buf_append_string(ret, "two runs of one program differ by up to 10 %, and less is not called "
                           "changed; more runs of both sides narrow that\n");
}

/* Explains the column `detectable` if one of the COUNT rows shown uses it. */
static void print_detectable_meaning(const struct view_diff *diff, uint32_t count,
                                     struct buf *ret) {
  for (uint32_t i = 0; i < count; i++) {
    if (view_verdict_is_change(view_diff_change(&diff->options, &diff->rows[i])->verdict)) continue;
    buf_append_string(ret, "detectable: the least increase that is called changed 4 times of 5; "
                           "none: no increase would be called changed\n");
    return;
  }
}

/* Explains those of the COUNT rows shown with mostly moved time in their change. */
static void print_moved(const struct view_diff *diff, uint32_t count, struct buf *ret) {
  static const char *const how[] = {"calls that others made before", "in place of ", "out of ",
                                    "inlined: "};
  char amount[NUMBER_BYTES];
  unsigned shown = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct view_diff_row *row = &diff->rows[i];
    double change = fabs(view_diff_change(&diff->options, row)->difference);
    if (!(row->moved.amount > moved_shown * change) || shown++ >= MOVED_MAX) continue;
    if (is_in_time(diff))
      print_time(row->moved.amount * diff->whole.a, false, amount);
    else
      snprintf(amount, sizeof amount, "%.1f points", 100 * row->moved.amount);
    buf_printf(ret, "%s%.200s (%s %s%.200s)", shown == 1 ? "time that moved: " : ", ", row->name,
               amount, how[row->moved.how], row->moved.of.name != NULL ? row->moved.of.name : "");
  }
  if (shown > MOVED_MAX) buf_printf(ret, " and %u more", shown - MOVED_MAX);
  if (shown > 0) buf_append_byte(ret, '\n');
}

/* Explains why some of the COUNT rows shown are unclear. */
static void print_doubts(const struct view_diff *diff, uint32_t count, struct buf *ret) {
  uint32_t of[VIEW_RUNS + 1] = {0};
  for (uint32_t i = 0; i < count; i++)
    of[view_diff_change(&diff->options, &diff->rows[i])->doubt]++;
  of[diff->whole.doubt]++;
  print_premises(diff, of, ret);
  if (of[VIEW_MANY] > 0)
    buf_printf(
        ret,
        "unclear although the interval leaves out 0: %u functions were compared, and chance "
        "moves some of so many that far; of those called changed one in twenty is by chance\n",
        diff->tested);
  if (of[VIEW_CLOCKS] > 0)
    buf_append_string(ret, "[kernel] and [unsampled] without functions are of clocks, not of "
                           "samples: how they vary from run to run is unknown, and they are never "
                           "called changed\n");
  if (of[VIEW_APART] > 0)
    buf_append_string(ret,
                      "[build-id]: a function of that build without a name: which one it is in "
                      "the other build is not known (fleetprof report -v)\n");
  if (of[VIEW_UNLIKE] > 0) print_unlike(diff, count, ret);
  for (uint32_t i = 0; i < diff->count; i++)
    if (strcmp(diff->rows[i].name, PSEUDO_REST) == 0)
      buf_printf(ret, "%s: %s\n", PSEUDO_REST, pseudo_hints_rest_meaning());
  if (diff->options.measure == VIEW_SHARES && is_both_ways(diff, count))
    buf_append_string(ret, "shares add up to 100 %: where one function takes more, others have "
                           "less without having changed themselves; the whole is above\n");
}

int diff_text_print(const struct diff_sides *sides, const struct view_diff *diff,
                    const struct top_text *style, struct buf *ret) {
  const struct headings headings = headings_of(sides);
  print_total(headings.a, sides->a_name, sides->a, ret);
  print_total(headings.b, sides->b_name, sides->b, ret);
  if (sides->pair != NULL)
    buf_printf(ret, "%s: the program itself, its functions compared by their names\n", sides->pair);
  print_counts(diff, ret);
  print_whole(diff, style, ret);
  print_measure(diff, ret);
  print_basis(diff, ret);
  int interval = 2 * end_width(diff) + 2;
  buf_printf(ret, "%*s  %*s  difference   %-*s  detectable  verdict  function\n",
             width_of(headings.a), headings.a, width_of(headings.b), headings.b, interval + 1,
             "95 % interval");
  uint32_t count = diff->count, shown = count < style->limit ? count : style->limit;
  int error = print_rows(diff, shown, &headings, style, ret);
  if (error != 0) return error;
  print_detectable_meaning(diff, shown, ret);
  print_moved(diff, shown, ret);
  print_doubts(diff, shown, ret);
  if (count > style->limit)
    buf_printf(ret, "%u more function%s by less (--limit)\n", count - style->limit,
               count - style->limit == 1 ? " differs" : "s differ");
  return ret->failed ? -ENOMEM : 0;
}

void diff_text_write_json(const struct diff_sides *sides, const struct view_diff *diff,
                          uint32_t limit, struct json *ret) {
  json_key_wide(ret, "a_total", sides->a->total_weight);
  json_key_wide(ret, "b_total", sides->b->total_weight);
  json_key_uint(ret, "a_samples", sides->a->total_count);
  json_key_uint(ret, "b_samples", sides->b->total_count);
  json_key(ret, "a_effective_samples");
  json_double(ret, evidence_trials(&sides->a->evidence));
  json_key(ret, "b_effective_samples");
  json_double(ret, evidence_trials(&sides->b->evidence));
  diff_json_write(ret, diff, limit);
}
