/* SPDX-License-Identifier: Apache-2.0 */
/* One format for all readers of tables: the same code writes `GET /api/v1/profile` and `fleetprof
   report --format json`, so a script for one reads the other.

   Losses that did not happen are left out, and a hint without its cause; every other key is always
   there. */
#include "table_json.h"
#include "marks.h"
#include "pseudo_hints.h"
#include "stacks.h"

#include "common/clock.h"
#include "common/cutoff.h"
#include "common/json.h"

#include <errno.h>
#include <stdlib.h>

static void write_loss(struct json *json, const uint64_t *loss) {
  json_key(json, "loss");
  json_open(json, '{');
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    if (loss[i]) json_key_uint(json, loss_name(i), loss[i]);
  json_close(json, '}');
}

static void write_marks(struct json *json, const struct view_tree *tree) {
  json_key(json, "marks");
  json_open(json, '[');
  for (uint32_t i = 0; i < tree->mark_count; i++) {
    struct mark_text text = marks_text(tree->marks[i].marks);
    json_open(json, '{');
    json_key_string(json, "service", tree->marks[i].service);
    json_key_string(json, "mark", text.mark);
    json_key_string(json, "certainty", text.certainty);
    json_key_string(json, "meaning", text.meaning);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void write_hints(struct json *json, const struct view_tree *tree) {
  const char *kernel = pseudo_hints_kernel(tree), *unsampled = pseudo_hints_unsampled(tree, 0);
  const char *rest = pseudo_hints_rest(tree);
  if (kernel != NULL) json_key_string(json, "kernel_hint", kernel);
  if (unsampled != NULL) json_key_string(json, "unsampled_hint", unsampled);
  if (rest != NULL) json_key_string(json, "rest_hint", rest);
}

static void write_basis(struct json *json, struct view_basis basis) {
  json_key(json, "basis");
  json_open(json, '{');
  json_key_string(json, "unit", basis.unit);
  json_key_uint(json, "units", basis.units);
  json_key_string(json, "scope", ratio_scope(&basis));
  json_close(json, '}');
}

void table_json_summary(struct json *json, const struct view_tree *tree, struct view_basis basis,
                        uint64_t from_ns, uint64_t to_ns) {
  char from[32], to[32];
  clock_print_time(from_ns, from);
  clock_print_time(to_ns, to);
  json_key_wide(json, "total", tree->total_weight);
  json_key_string(json, "unit", "nanoseconds");
  json_key_uint(json, "samples", tree->total_count);
  if (tree->evidence.squares > 0 || tree->total_count == 0) {
    json_key(json, "effective_samples");
    json_double(json, evidence_trials(&tree->evidence));
  }
  write_basis(json, basis);
  json_key_string(json, "from", from);
  json_key_string(json, "to", to);
  write_loss(json, tree->loss);
  write_marks(json, tree);
  write_hints(json, tree);
}

static void write_end_shares(struct json *json, const struct view_tree *tree) {
  wide_sum total = stacks_total(tree);
  json_key_wide(json, "weight", total);
  for (unsigned i = 0; i < STACK_END_COUNT; i++) {
    json_key(json, stack_end_name((enum stack_end)i));
    json_double(json, total > 0 ? (double)tree->stacks_weight[i] / (double)total : 0);
  }
  json_key(json, "meanings");
  json_open(json, '{');
  for (unsigned i = 0; i < STACK_END_COUNT; i++)
    if (tree->stacks_weight[i] > 0 && i != STACK_COMPLETE)
      json_key_string(json, stack_end_name((enum stack_end)i), stacks_meaning((enum stack_end)i));
  json_close(json, '}');
}

static void write_ends_in(struct json *json, const struct stacks_row *row, wide_sum total) {
  json_open(json, '{');
  json_key_string(json, "module", row->module);
  json_key_string(json, "end", stack_end_name(row->end));
  json_key_wide(json, "weight", row->weight);
  json_key(json, "share");
  json_double(json, total > 0 ? (double)row->weight / (double)total : 0);
  json_key_string(json, "why", stacks_why(row));
  json_close(json, '}');
}

int table_json_stacks(struct json *json, const struct view_tree *tree, struct arena *arena) {
  struct stacks_row *rows;
  uint32_t count;
  int error = stacks_ends_in(tree, arena, &rows, &count);
  if (error) return error;
  json_key(json, "stacks");
  json_open(json, '{');
  write_end_shares(json, tree);
  json_key(json, "ends_in");
  json_open(json, '[');
  for (uint32_t i = 0; i < count; i++) write_ends_in(json, &rows[i], stacks_total(tree));
  json_close(json, ']');
  json_close(json, '}');
  return 0;
}

void table_json_function(struct json *json, const struct view_function *function) {
  json_key_string(json, "name", function->name);
  json_key_string(json, "module", function->module);
  json_key_string(json, "file", function->file);
  json_key(json, "line");
  if (function->line > 0)
    json_uint(json, function->line);
  else
    json_string(json, NULL);
  json_key_string(json, "quality", function->quality);
}

void table_json_share(struct json *json, const char *key, const char *key_ci,
                      const struct view_share *share) {
  if (key != NULL) {
    json_key(json, key);
    json_double(json, share->share);
  }
  json_key(json, key_ci);
  json_open(json, '[');
  json_double(json, share->low);
  json_double(json, share->high);
  json_close(json, ']');
}

void table_json_mark(struct json *json, enum ratio_lack lack) {
  json_key(json, "too_few_samples");
  json_bool(json, lack == RATIO_FEW_SAMPLES);
  json_key(json, "too_few_boards");
  json_bool(json, lack == RATIO_FEW_BOARDS);
}

void table_json_rest(struct json *json, const char *key, const char *what,
                     const struct table_rest *rest) {
  json_key(json, key);
  json_open(json, '{');
  json_key_uint(json, what, rest->rows);
  json_key_wide(json, "weight", rest->weight);
  json_key_uint(json, "samples", rest->samples);
  json_close(json, '}');
}

static int by_total(const void *left, const void *right) {
  const struct view_top_row *a = left, *b = right;
  if (a->total_weight != b->total_weight) return a->total_weight > b->total_weight ? -1 : 1;
  if (a->self_weight != b->self_weight) return a->self_weight > b->self_weight ? -1 : 1;
  return a->function < b->function ? -1 : a->function > b->function;
}

int table_json_functions(struct json *json, const struct view_tree *tree, enum table_order order,
                         uint32_t limit, struct arena *arena) {
  struct view_top_row *rows;
  struct table_rest rest = {.rows = 0};
  uint32_t count;
  int error = view_top(tree, arena, &rows, &count);
  if (error) return error;
  if (order == TABLE_BY_TOTAL) qsort(rows, count, sizeof *rows, by_total);
  json_key(json, "functions");
  json_open(json, '[');
  for (uint32_t i = 0; i < count && i < limit && !json->is_full; i++) {
    if (cutoff_is_at(tree->cutoff, i)) return -ETIMEDOUT;
    json_open(json, '{');
    table_json_function(json, &tree->functions[rows[i].function]);
    json_key_wide(json, "self", rows[i].self_weight);
    json_key_wide(json, "total", rows[i].total_weight);
    table_json_share(json, "self_share", "self_ci", &rows[i].self);
    table_json_share(json, "total_share", "total_ci", &rows[i].total);
    json_key_uint(json, "self_samples", rows[i].self_count);
    json_key_uint(json, "total_samples", rows[i].total_count);
    table_json_mark(json, rows[i].lack);
    json_close(json, '}');
  }
  json_close(json, ']');
  for (uint32_t i = limit; i < count; i++)
    table_rest_add(&rest, rows[i].self_weight, rows[i].self_count);
  table_json_rest(json, "rest", "functions", &rest);
  return 0;
}
