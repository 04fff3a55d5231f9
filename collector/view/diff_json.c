/* SPDX-License-Identifier: Apache-2.0 */
/* `p` is adjusted for the number of functions: a function with at most 0.05 is changed. `p_alone`
   is the value for a single test. Numbers that do not exist are null: a ratio to zero, an
   undetectable change. */
#include "diff_json.h"

#include "common/json.h"

#include <math.h>

static void write_number(struct json *json, const char *key, double value) {
  json_key(json, key);
  json_double(json, value); /* null if not finite */
}

static void write_interval(struct json *json, const char *key, double low, double high) {
  json_key(json, key);
  if (!isfinite(low) || !isfinite(high)) {
    json_double(json, NAN);
    return;
  }
  json_open(json, '[');
  json_double(json, low);
  json_double(json, high);
  json_close(json, ']');
}

static void write_verdict(struct json *json, enum view_verdict verdict, enum view_doubt doubt,
                          double detectable) {
  json_key_string(json, "verdict", view_verdict_name(verdict));
  json_key_string(json, "doubt", doubt != VIEW_NO_DOUBT ? view_doubt_name(doubt) : NULL);
  write_number(json, "detectable", detectable);
}

/* Writes the members of a difference of shares. */
static void write_shares(struct json *json, const struct view_change *change) {
  write_number(json, "a", change->a);
  write_number(json, "b", change->b);
  write_number(json, "difference", change->difference);
  write_interval(json, "ci", change->low, change->high);
  write_number(json, "p", change->p);
  write_number(json, "p_alone", change->p_alone);
  write_verdict(json, change->verdict, change->doubt, change->detectable);
}

/* Writes CPU time in seconds per unit. `change` is relative to the total of a per unit. */
static void write_cpu(struct json *json, const struct view_diff *diff,
                      const struct view_change *cpu) {
  double seconds = diff->whole.a / 1e9, base = cpu->a;
  json_key(json, "cpu");
  json_open(json, '{');
  write_number(json, "a", cpu->a * seconds);
  write_number(json, "b", cpu->b * seconds);
  write_number(json, "ratio", base > 0 ? cpu->b / base : NAN);
  write_interval(json, "ci", base > 0 ? fmax(base + cpu->low, 0) / base : NAN,
                 base > 0 ? (base + cpu->high) / base : NAN);
  write_number(json, "change", cpu->difference);
  write_interval(json, "change_ci", cpu->low, cpu->high);
  write_number(json, "p", cpu->p);
  write_verdict(json, cpu->verdict, cpu->doubt, cpu->detectable);
  json_key_string(json, "unit", diff->options.units.name);
  json_close(json, '}');
}

static void write_through(struct json *json, const struct view_other *through) {
  json_key(json, "through");
  if (through->name == NULL) {
    json_double(json, NAN);
    return;
  }
  json_open(json, '{');
  json_key_string(json, "name", through->name);
  json_key_string(json, "module", through->module);
  json_key_string(json, "file", through->file);
  json_close(json, '}');
}

static void write_moved(struct json *json, const struct view_moved *moved) {
  json_key(json, "moved");
  if (!(moved->amount > 0)) {
    json_double(json, NAN);
    return;
  }
  json_open(json, '{');
  write_number(json, "amount", moved->amount);
  write_number(json, "error", moved->error);
  json_key_string(json, "how", view_move_name(moved->how));
  json_key_string(json, "function", moved->of.name);
  json_key_string(json, "module", moved->of.module);
  json_key_string(json, "file", moved->of.file);
  json_close(json, '}');
}

static void write_row(struct json *json, const struct view_diff *diff,
                      const struct view_diff_row *row) {
  json_open(json, '{');
  json_key_string(json, "name", row->name);
  json_key_string(json, "module", row->module);
  json_key_string(json, "file", row->file);
  write_shares(json, &row->self);
  json_key(json, "total");
  json_open(json, '{');
  write_shares(json, &row->total);
  json_close(json, '}');
  write_cpu(json, diff, &row->cpu);
  write_moved(json, &row->moved);
  write_through(json, &row->through);
  json_close(json, '}');
}

static void write_whole(struct json *json, const struct view_diff *diff) {
  const struct view_whole *whole = &diff->whole;
  json_key(json, "whole");
  json_open(json, '{');
  write_number(json, "a", whole->a / 1e9);
  write_number(json, "b", whole->b / 1e9);
  write_number(json, "ratio", whole->ratio);
  write_interval(json, "ci", whole->low, whole->high);
  write_number(json, "p", whole->p);
  write_verdict(json, whole->verdict, whole->doubt, whole->detectable);
  json_key_string(json, "unit", diff->options.units.name);
  json_close(json, '}');
}

static void write_basis(struct json *json, const struct view_diff_basis *basis) {
  json_key(json, "basis");
  json_open(json, '{');
  json_key_string(json, "a_unit", basis->a.unit);
  json_key_uint(json, "a_units", basis->a.units);
  write_number(json, "a_seconds", basis->a_seconds);
  json_key_string(json, "b_unit", basis->b.unit);
  json_key_uint(json, "b_units", basis->b.units);
  write_number(json, "b_seconds", basis->b_seconds);
  write_number(json, "phase_seconds", basis->phase_seconds);
  json_key_uint(json, "pairs", basis->pairs);
  json_close(json, '}');
}

/* Writes the number of units and of runs of each side. */
static void write_units(struct json *json, const struct view_diff_options *options) {
  json_key(json, "units");
  json_open(json, '{');
  json_key_string(json, "unit", options->units.name);
  write_number(json, "a", options->units.a);
  write_number(json, "b", options->units.b);
  write_number(json, "a_runs", options->a_runs > 0 ? options->a_runs : NAN);
  write_number(json, "b_runs", options->b_runs > 0 ? options->b_runs : NAN);
  json_close(json, '}');
}

void diff_json_write(struct json *json, const struct view_diff *diff, uint32_t limit) {
  uint32_t changed = 0;
  for (uint32_t i = 0; i < diff->count; i++)
    changed += view_verdict_is_change(view_diff_change(&diff->options, &diff->rows[i])->verdict);
  json_key_string(json, "measure", diff->options.measure == VIEW_CPU ? "cpu" : "share");
  json_key_string(json, "of", diff->options.of == VIEW_SELF ? "self" : "total");
  json_key_string(json, "scope", diff->scope == VIEW_FLEET ? "fleet" : "these");
  write_basis(json, &diff->basis);
  write_units(json, &diff->options);
  write_whole(json, diff);
  json_key_uint(json, "tested", diff->tested);
  json_key_uint(json, "changed", changed);
  json_key_uint(json, "count", diff->count);
  json_key(json, "functions");
  json_open(json, '[');
  for (uint32_t i = 0; i < diff->count && i < limit && !json->is_full; i++)
    write_row(json, diff, &diff->rows[i]);
  json_close(json, ']');
}
