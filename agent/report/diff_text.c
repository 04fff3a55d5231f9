/* SPDX-License-Identifier: Apache-2.0 */
/* The signed table: largest difference first, each with its interval and what may be said of it.

   Shares say where the time goes, not how much there is: a program that got twice as fast
   everywhere has the same shares.  So both totals stand on top. */
#include "diff_text.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "view/diff.h"

#include <errno.h>

#define RED "\033[31m"
#define GREEN "\033[32m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

static void print_total(const char *name, const struct view_tree *tree, struct buf *ret) {
  buf_printf(ret, "%s: %llu samples, %.2f s of CPU time\n", name,
             (unsigned long long)tree->total_count,
             (double)tree->total_weight / (double)NS_PER_SECOND);
}

static void print_row(const struct view_diff_row *row, bool has_colour, struct buf *ret) {
  const char *colour = "", *plain = has_colour ? PLAIN : "";
  if (has_colour) colour = row->verdict != VIEW_CHANGED ? DIM : row->difference > 0 ? RED : GREEN;
  buf_printf(ret, "%5.1f %%  %5.1f %%  %s%+10.1f %%%s  %+6.1f .. %+6.1f %%  ", 100 * row->a,
             100 * row->b, colour, 100 * row->difference, plain, 100 * row->low, 100 * row->high);
  buf_printf(ret, "%s%-7s%s  %s  (%s)\n", colour, view_verdict_name(row->verdict), plain, row->name,
             row->module);
}

int diff_text_print(const struct diff_sides *sides, const struct top_text *style,
                    struct arena *arena, struct buf *ret) {
  struct view_diff_row *rows;
  uint32_t count;
  int error = view_diff(sides->a, sides->b, arena, &rows, &count);
  if (error != 0) return error;
  print_total("a", sides->a, ret);
  print_total("b", sides->b, ret);
  buf_append_string(ret, "      a        b    difference     95 % interval    verdict  function\n");
  for (uint32_t i = 0; i < count && i < style->limit; i++)
    print_row(&rows[i], style->has_colour, ret);
  if (count > style->limit)
    buf_printf(ret, "%u more functions differ by less (--limit)\n", count - style->limit);
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
  json_key(&json, "functions");
  json_open(&json, '[');
  for (uint32_t i = 0; i < count && i < limit; i++) write_row(&json, &rows[i]);
  json_close(&json, ']');
  json_close(&json, '}');
  buf_append_byte(ret, '\n');
  return ret->failed ? -ENOMEM : 0;
}
