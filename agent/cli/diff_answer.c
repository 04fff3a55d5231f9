/* SPDX-License-Identifier: Apache-2.0 */
/* The reverse of collector/view/diff_json.c. */
#include "diff_answer.h"

#include "answer_text.h"
#include "field.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double count_max = 1e9; /* of rows and units */

/* The number NAME of OBJECT; FALLBACK if it is null or missing. */
static double number(const cJSON *object, const char *name, double fallback) {
  const cJSON *value = field_find(object, name);
  return cJSON_IsNumber(value) ? value->valuedouble : fallback;
}

static unsigned count(const cJSON *object, const char *name) {
  return (unsigned)answer_text_whole(fmin(fmax(number(object, name, 0), 0), count_max));
}

static double end_of(const cJSON *object, const char *name, int index) {
  const cJSON *end = cJSON_GetArrayItem(field_find(object, name), index);
  return cJSON_IsNumber(end) ? end->valuedouble : NAN;
}

static enum view_verdict verdict_of(const cJSON *object) {
  const char *text = field_text(object, "verdict");
  for (int i = VIEW_CHANGED; i <= VIEW_GONE; i++)
    if (strcmp(text, view_verdict_name((enum view_verdict)i)) == 0) return (enum view_verdict)i;
  return VIEW_UNCLEAR;
}

static enum view_doubt doubt_of(const cJSON *object) {
  const char *text = field_text(object, "doubt");
  for (int i = VIEW_NO_DOUBT; i <= VIEW_RUNS; i++)
    if (strcmp(text, view_doubt_name((enum view_doubt)i)) == 0) return (enum view_doubt)i;
  return VIEW_NO_DOUBT;
}

static struct view_change shares_of(const cJSON *object) {
  return (struct view_change){.a = number(object, "a", 0),
                              .b = number(object, "b", 0),
                              .difference = number(object, "difference", 0),
                              .low = end_of(object, "ci", 0),
                              .high = end_of(object, "ci", 1),
                              .p = number(object, "p", 1),
                              .p_alone = number(object, "p_alone", 1),
                              .detectable = number(object, "detectable", INFINITY),
                              .verdict = verdict_of(object),
                              .doubt = doubt_of(object)};
}

/* The collector sends seconds per unit.  A struct view_change has fractions of WHOLE, in
   seconds. */
static struct view_change cpu_of(const cJSON *object, double whole) {
  return (struct view_change){.a = whole > 0 ? number(object, "a", 0) / whole : 0,
                              .b = whole > 0 ? number(object, "b", 0) / whole : 0,
                              .difference = number(object, "change", NAN),
                              .low = end_of(object, "change_ci", 0),
                              .high = end_of(object, "change_ci", 1),
                              .p = number(object, "p", 1),
                              .p_alone = 1,
                              .detectable = number(object, "detectable", INFINITY),
                              .verdict = verdict_of(object),
                              .doubt = doubt_of(object)};
}

/* The function named by the member NAME of OBJECT. */
static struct view_other other_of(const cJSON *object, const char *name) {
  const char *text = field_text(object, name), *file = field_text(object, "file");
  if (text[0] == '\0') return (struct view_other){.name = NULL};
  return (struct view_other){
      .name = text, .module = field_text(object, "module"), .file = file[0] != '\0' ? file : NULL};
}

static struct view_moved moved_of(const cJSON *object) {
  struct view_moved moved = {.amount = fmax(number(object, "amount", 0), 0),
                             .error = fmax(number(object, "error", 0), 0),
                             .of = other_of(object, "function")};
  for (int how = VIEW_CALLS; how <= VIEW_INLINED; how++)
    if (strcmp(field_text(object, "how"), view_move_name((enum view_move)how)) == 0)
      moved.how = (enum view_move)how;
  return moved;
}

/* The number of units of each side; 1 if an earlier collector does not send it. */
static struct view_units units_of(const cJSON *units, const cJSON *whole) {
  double a = number(units, "a", 1), b = number(units, "b", 1);
  return (struct view_units){field_text(whole, "unit"), a > 0 ? a : 1, b > 0 ? b : 1};
}

static struct view_diff_row row_of(const cJSON *row, double whole) {
  const char *file = field_text(row, "file");
  return (struct view_diff_row){.name = field_text(row, "name"),
                                .module = field_text(row, "module"),
                                .file = file[0] != '\0' ? file : NULL,
                                .self = shares_of(row),
                                .total = shares_of(field_find(row, "total")),
                                .cpu = cpu_of(field_find(row, "cpu"), whole),
                                .moved = moved_of(field_find(row, "moved")),
                                .through = other_of(field_find(row, "through"), "name")};
}

static struct view_whole whole_of(const cJSON *whole) {
  return (struct view_whole){.a = number(whole, "a", 0) * 1e9,
                             .b = number(whole, "b", 0) * 1e9,
                             .ratio = number(whole, "ratio", NAN),
                             .low = end_of(whole, "ci", 0),
                             .high = end_of(whole, "ci", 1),
                             .p = number(whole, "p", 1),
                             .detectable = number(whole, "detectable", INFINITY),
                             .verdict = verdict_of(whole),
                             .doubt = doubt_of(whole)};
}

static struct view_diff_basis basis_of(const cJSON *basis) {
  return (struct view_diff_basis){
      .a = {field_text(basis, "a_unit"), count(basis, "a_units")},
      .b = {field_text(basis, "b_unit"), count(basis, "b_units")},
      .a_seconds = number(basis, "a_seconds", 0),
      .b_seconds = number(basis, "b_seconds", 0),
      .pairs = count(basis, "pairs"),
      .phase_seconds = number(basis, "phase_seconds", NAN),
  };
}

int diff_answer_read(const cJSON *answer, struct view_diff *ret) {
  const cJSON *functions = field_find(answer, "functions"), *whole = field_find(answer, "whole");
  const cJSON *at;
  bool is_total = strcmp(field_text(answer, "of"), "total") == 0;
  bool is_cpu = strcmp(field_text(answer, "measure"), "cpu") == 0;
  struct view_diff diff = {.options = {.measure = is_cpu ? VIEW_CPU : VIEW_SHARES,
                                       .of = is_total ? VIEW_TOTAL : VIEW_SELF,
                                       .units = units_of(field_find(answer, "units"), whole)},
                           .basis = basis_of(field_find(answer, "basis")),
                           .scope = strcmp(field_text(answer, "scope"), "fleet") == 0 ? VIEW_FLEET
                                                                                      : VIEW_THESE,
                           .whole = whole_of(whole),
                           .tested = count(answer, "tested")};
  diff.rows = calloc((size_t)cJSON_GetArraySize(functions) + 1, sizeof *diff.rows);
  if (diff.rows == NULL) return -ENOMEM;
  cJSON_ArrayForEach(at, functions) diff.rows[diff.count++] = row_of(at, diff.whole.a / 1e9);
  *ret = diff;
  return 0;
}
