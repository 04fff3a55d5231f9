/* SPDX-License-Identifier: Apache-2.0 */
/* `p` is the adjusted one: what is at most 0.05 is changed, however many functions there are.  What
   a single function would have by itself is `p_alone`. */
#include "diff_json.h"

#include "common/json.h"

static void write_double(struct json *json, const char *key, double value) {
  json_key(json, key);
  json_double(json, value);
}

static void write_row(struct json *json, const struct view_diff_row *row) {
  json_open(json, '{');
  json_key_string(json, "name", row->name);
  json_key_string(json, "module", row->module);
  json_key_string(json, "file", row->file);
  write_double(json, "a", row->a);
  write_double(json, "b", row->b);
  write_double(json, "difference", row->difference);
  json_key(json, "ci");
  json_open(json, '[');
  json_double(json, row->low);
  json_double(json, row->high);
  json_close(json, ']');
  write_double(json, "p", row->p);
  write_double(json, "p_alone", row->p_alone);
  json_key_string(json, "verdict", view_verdict_name(row->verdict));
  json_key_string(json, "doubt", row->doubt != VIEW_NO_DOUBT ? view_doubt_name(row->doubt) : NULL);
  json_close(json, '}');
}

static void write_basis(struct json *json, const struct view_tree *a, const struct view_tree *b) {
  struct view_diff_basis basis;
  view_diff_basis(a, b, &basis);
  json_key(json, "basis");
  json_open(json, '{');
  json_key_string(json, "a_unit", basis.a.unit);
  json_key_uint(json, "a_units", basis.a.units);
  json_key_string(json, "b_unit", basis.b.unit);
  json_key_uint(json, "b_units", basis.b.units);
  json_key_uint(json, "pairs", basis.pairs);
  json_close(json, '}');
}

void diff_json_write(struct json *json, const struct view_tree *a, const struct view_tree *b,
                     const struct view_diff_row *rows, uint32_t count, uint32_t limit) {
  uint32_t changed = 0;
  for (uint32_t i = 0; i < count; i++) changed += rows[i].verdict == VIEW_CHANGED;
  write_basis(json, a, b);
  json_key_uint(json, "tested", view_diff_tested(rows, count));
  json_key_uint(json, "changed", changed);
  json_key(json, "functions");
  json_open(json, '[');
  for (uint32_t i = 0; i < count && i < limit && !json->is_full; i++) write_row(json, &rows[i]);
  json_close(json, ']');
}
