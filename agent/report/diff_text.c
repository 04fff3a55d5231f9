/* SPDX-License-Identifier: Apache-2.0 */
/* The signed table: largest difference first, each with its interval and what may be said of it.

   Shares say where the time goes, not how much there is: a program that got twice as fast
   everywhere has the same shares.  So both totals stand on top, under the names of their files;
   where those fit a column they are its heading, else the columns are called a and b.

   A row that is called unclear although its interval leaves out 0, or though it is all or nothing,
   looks like a mistake: why it is none stands below the table. */
#include "diff_text.h"

#include "common/buf.h"
#include "common/json.h"
#include "common/path.h"
#include "view/diff_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RED "\033[31m"
#define GREEN "\033[32m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

enum {
  HEADING_BYTES_MAX = 14,
  COLUMN_BYTES = 7,
  NUMBER_BYTES = 16,
  OTHER_COLUMNS = 51, /* of a row before its name, beside those under the headings */
};

struct headings {
  const char *a, *b;
};

static struct headings headings_of(const struct diff_sides *sides) {
  const struct headings names = {path_name(sides->a_name), path_name(sides->b_name)};
  bool is_short = strlen(names.a) <= HEADING_BYTES_MAX && strlen(names.b) <= HEADING_BYTES_MAX;
  return is_short && strcmp(names.a, names.b) != 0 ? names : (struct headings){"a", "b"};
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

/* SHARE in percent with its sign; what rounds to nothing has none. */
static const char *print_signed(double share, char ret[NUMBER_BYTES]) {
  double tenths = round(1000 * share);
  snprintf(ret, NUMBER_BYTES, tenths == 0 ? "%.1f %%" : "%+.1f %%",
           fabs(tenths) == 0 ? 0 : tenths / 10);
  return ret;
}

static void print_row(const struct view_diff_row *row, bool is_alike,
                      const struct headings *headings, const struct top_text *style,
                      struct buf *ret) {
  char difference[NUMBER_BYTES], low[NUMBER_BYTES], high[NUMBER_BYTES];
  const struct top_text_row text = {
      .name = row->name, .module = row->module, .file = row->file, .is_alike = is_alike};
  unsigned used = (unsigned)(width_of(headings->a) + width_of(headings->b)) + OTHER_COLUMNS;
  bool has_colour = style->has_colour;
  const char *colour = "", *plain = has_colour ? PLAIN : "";
  if (has_colour) colour = row->verdict != VIEW_CHANGED ? DIM : row->difference > 0 ? RED : GREEN;
  buf_printf(ret, "%*.1f %%  %*.1f %%  %s%12s%s  %9s .. %9s  ", width_of(headings->a) - 2,
             100 * row->a, width_of(headings->b) - 2, 100 * row->b, colour,
             print_signed(row->difference, difference), plain, print_signed(row->low, low),
             print_signed(row->high, high));
  buf_printf(ret, "%s%-7s%s  ", colour, view_verdict_name(row->verdict), plain);
  top_text_print_name(&text, used, style, ret);
}

static int print_rows(const struct view_diff_row *rows, uint32_t count,
                      const struct headings *headings, const struct top_text *style,
                      struct buf *ret) {
  struct top_text_row *texts = calloc((size_t)count + 1, sizeof *texts);
  if (texts == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < count; i++)
    texts[i] = (struct top_text_row){.name = rows[i].name, .module = rows[i].module};
  int error = top_text_tell_apart(texts, count);
  for (uint32_t i = 0; i < count && error == 0; i++)
    print_row(&rows[i], texts[i].is_alike, headings, style, ret);
  free(texts);
  return error;
}

static void print_units(struct view_basis basis, struct buf *ret) {
  if (basis.units > 0) buf_printf(ret, "%u ", basis.units);
  buf_append_string(ret, basis.unit);
}

/* What the intervals come from, when it is not single samples. */
static void print_basis(const struct view_diff_basis *basis, struct buf *ret) {
  if (basis->a.units == 0 && basis->b.units == 0) return;
  buf_append_string(ret, "intervals: by how ");
  print_units(basis->a, ret);
  buf_append_string(ret, " of the first and ");
  print_units(basis->b, ret);
  buf_append_string(ret, " of the second differ");
  if (basis->pairs > 0)
    buf_printf(ret, "; %u boards are on both sides and compared with themselves", basis->pairs);
  buf_append_byte(ret, '\n');
}

/* Says in which modules, the first of them by name, names are not comparable. */
static void print_unlike(const struct view_diff_row *rows, uint32_t count, struct buf *ret) {
  const char *first = "";
  bool has_more = false;
  for (uint32_t i = 0; i < count; i++) {
    if (rows[i].doubt != VIEW_UNLIKE) continue;
    has_more |= first[0] != '\0' && strcmp(first, rows[i].module) != 0;
    if (first[0] == '\0') first = rows[i].module;
  }
  buf_printf(ret,
             "%s%s: one side has names of debug information and the other of a symbol table, which "
             "has what is inlined under its caller: nothing there is called changed within what "
             "that may have moved (build both with -g, or strip -g both)\n",
             first, has_more ? " and others" : "");
}

/* Whether, of COUNT ROWS, some have changed to more and some to less. */
static bool is_both_ways(const struct view_diff_row *rows, uint32_t count) {
  bool is_more = false, is_less = false;
  for (uint32_t i = 0; i < count; i++) {
    if (rows[i].verdict != VIEW_CHANGED) continue;
    is_more |= rows[i].difference > 0;
    is_less |= rows[i].difference < 0;
  }
  return is_more && is_less;
}

/* Says why some of the COUNT ROWS that are shown are unclear, of FUNCTIONS that were compared. */
static void print_doubts(const struct view_diff_row *rows, uint32_t count, uint32_t functions,
                         struct buf *ret) {
  uint32_t of[VIEW_UNLIKE + 1] = {0};
  for (uint32_t i = 0; i < count; i++) of[rows[i].doubt]++;
  if (of[VIEW_MANY] > 0)
    buf_printf(ret,
               "unclear although the interval leaves out 0: of %u functions chance moves some that "
               "far; changed holds for all together, at most one in twenty of them by chance\n",
               functions);
  if (of[VIEW_CLOCKS] > 0)
    buf_append_string(ret, "[kernel] and [unsampled] without functions are of clocks, not of "
                           "samples: how they vary from run to run no interval tells, and they are "
                           "never called changed\n");
  if (of[VIEW_APART] > 0)
    buf_append_string(ret,
                      "[build-id]: a function of that build without a name: which one it is in "
                      "the other build is not known (fleetprof report -v)\n");
  if (of[VIEW_UNLIKE] > 0) print_unlike(rows, count, ret);
  if (is_both_ways(rows, count))
    buf_append_string(ret, "shares add up to 100 %: where one function takes more, others have "
                           "less without having changed themselves; the totals are above\n");
}

static int print_table(const struct diff_table *table, const struct headings *headings,
                       const struct top_text *style, struct buf *ret) {
  const struct diff_sides *sides = &table->sides;
  print_total(headings->a, sides->a_name, sides->a, ret);
  print_total(headings->b, sides->b_name, sides->b, ret);
  if (sides->pair != NULL)
    buf_printf(ret, "%s: the program itself, its functions compared by their names\n", sides->pair);
  print_basis(&table->basis, ret);
  buf_printf(ret, "%*s  %*s    difference      95 %% interval        verdict  function\n",
             width_of(headings->a), headings->a, width_of(headings->b), headings->b);
  uint32_t count = table->count, shown = count < style->limit ? count : style->limit;
  int error = print_rows(table->rows, shown, headings, style, ret);
  if (error != 0) return error;
  print_doubts(table->rows, shown, table->tested, ret);
  if (count > style->limit)
    buf_printf(ret, "%u more function%s by less (--limit)\n", count - style->limit,
               count - style->limit == 1 ? " differs" : "s differ");
  return ret->failed ? -ENOMEM : 0;
}

int diff_text_print_table(const struct diff_table *table, const struct top_text *style,
                          struct buf *ret) {
  static const struct headings headings = {"a", "b"};
  return print_table(table, &headings, style, ret);
}

int diff_text_print(const struct diff_sides *sides, const struct top_text *style,
                    struct arena *arena, struct buf *ret) {
  struct view_diff_row *rows;
  const struct headings headings = headings_of(sides);
  struct diff_table table = {.sides = *sides};
  int error = view_diff(sides->a, sides->b, arena, &rows, &table.count);
  if (error != 0) return error;
  view_diff_basis(sides->a, sides->b, &table.basis);
  table.rows = rows;
  table.tested = view_diff_tested(rows, table.count);
  return print_table(&table, &headings, style, ret);
}

int diff_text_print_json(const struct diff_sides *sides, uint32_t limit, struct arena *arena,
                         struct buf *ret) {
  struct view_diff_row *rows;
  uint32_t count;
  struct json json;
  int error = view_diff(sides->a, sides->b, arena, &rows, &count);
  if (error != 0) return error;
  json_init(&json, ret, SIZE_MAX);
  json_open(&json, '{');
  json_key_uint(&json, "a_total", sides->a->total_weight);
  json_key_uint(&json, "b_total", sides->b->total_weight);
  json_key_uint(&json, "a_samples", sides->a->total_count);
  json_key_uint(&json, "b_samples", sides->b->total_count);
  json_key(&json, "a_effective_samples");
  json_double(&json, evidence_trials(&sides->a->evidence));
  json_key(&json, "b_effective_samples");
  json_double(&json, evidence_trials(&sides->b->evidence));
  diff_json_write(&json, sides->a, sides->b, rows, count, limit);
  json_close(&json, '}');
  buf_append_byte(ret, '\n');
  return ret->failed ? -ENOMEM : 0;
}
