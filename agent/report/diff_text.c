/* SPDX-License-Identifier: Apache-2.0 */
/* The signed table: largest difference first, each with its interval and what may be said of it.

   Shares say where the time goes, not how much there is: a program that got twice as fast
   everywhere has the same shares.  So both totals stand on top, under the names of their files;
   where those fit a column they are its heading, else the columns are called a and b. */
#include "diff_text.h"

#include "common/buf.h"
#include "common/json.h"
#include "common/path.h"
#include "view/diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RED "\033[31m"
#define GREEN "\033[32m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

enum { HEADING_BYTES_MAX = 14, COLUMN_BYTES = 7, NUMBER_BYTES = 16 };

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

static void print_row(const struct view_diff_row *row, const struct headings *headings,
                      bool has_colour, struct buf *ret) {
  char difference[NUMBER_BYTES], low[NUMBER_BYTES], high[NUMBER_BYTES];
  const char *colour = "", *plain = has_colour ? PLAIN : "";
  if (has_colour) colour = row->verdict != VIEW_CHANGED ? DIM : row->difference > 0 ? RED : GREEN;
  buf_printf(ret, "%*.1f %%  %*.1f %%  %s%12s%s  %9s .. %9s  ", width_of(headings->a) - 2,
             100 * row->a, width_of(headings->b) - 2, 100 * row->b, colour,
             print_signed(row->difference, difference), plain, print_signed(row->low, low),
             print_signed(row->high, high));
  buf_printf(ret, "%s%-7s%s  %s", colour, view_verdict_name(row->verdict), plain, row->name);
  if (!top_text_tells_module(row->name, row->module)) buf_printf(ret, "  (%s)", row->module);
  buf_append_byte(ret, '\n');
}

int diff_text_print(const struct diff_sides *sides, const struct top_text *style,
                    struct arena *arena, struct buf *ret) {
  struct view_diff_row *rows;
  const struct headings headings = headings_of(sides);
  uint32_t count;
  int error = view_diff(sides->a, sides->b, arena, &rows, &count);
  if (error != 0) return error;
  print_total(headings.a, sides->a_name, sides->a, ret);
  print_total(headings.b, sides->b_name, sides->b, ret);
  buf_printf(ret, "%*s  %*s    difference      95 %% interval        verdict  function\n",
             width_of(headings.a), headings.a, width_of(headings.b), headings.b);
  for (uint32_t i = 0; i < count && i < style->limit; i++)
    print_row(&rows[i], &headings, style->has_colour, ret);
  if (count > style->limit)
    buf_printf(ret, "%u more function%s by less (--limit)\n", count - style->limit,
               count - style->limit == 1 ? " differs" : "s differ");
  return ret->failed ? -ENOMEM : 0;
}

static void write_row(struct json *json, const struct view_diff_row *row) {
  json_open(json, '{');
  json_key_string(json, "name", row->name);
  json_key_string(json, "module", row->module);
  json_key(json, "a");
  json_double(json, row->a);
  json_key(json, "b");
  json_double(json, row->b);
  json_key(json, "difference");
  json_double(json, row->difference);
  json_key(json, "ci");
  json_open(json, '[');
  json_double(json, row->low);
  json_double(json, row->high);
  json_close(json, ']');
  json_key(json, "p");
  json_double(json, row->p);
  json_key_string(json, "verdict", view_verdict_name(row->verdict));
  json_close(json, '}');
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
  json_key(&json, "functions");
  json_open(&json, '[');
  for (uint32_t i = 0; i < count && i < limit; i++) write_row(&json, &rows[i]);
  json_close(&json, ']');
  json_close(&json, '}');
  buf_append_byte(ret, '\n');
  return ret->failed ? -ENOMEM : 0;
}
