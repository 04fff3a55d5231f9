/* SPDX-License-Identifier: Apache-2.0 */
/* Each answer begins with totals and losses, as `fleetprof report` prints them.  Then each row has
   one line, and each share its interval.  Collector and command line may have different versions: a
   missing field reads as 0 or "" (field.c). */
#include "answer_text.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/text.h"
#include "field.h"
#include "report/name_fit.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_MAX 0x1p63
#define SECONDS_MAX 18e9 /* more does not fit in nanoseconds */

enum { TIME_BYTES = 20 /* of RFC 3339, in whole seconds */, UNITS_MAX = 1000000 };

static void clean(cJSON *item) {
  for (; item != NULL; item = item->next) {
    if (cJSON_IsString(item) && item->valuestring != NULL) text_show(item->valuestring);
    if (item->string != NULL) text_show(item->string);
    clean(item->child); /* cJSON parses a thousand levels at most */
  }
}

cJSON *answer_text_parse(const void *text, size_t len) {
  cJSON *answer = len > 0 ? cJSON_ParseWithLength(text, len) : NULL;
  clean(answer);
  return answer;
}

uint64_t answer_text_whole(double number) {
  if (!(number >= 1)) return 0;
  return number < WHOLE_MAX ? (uint64_t)number : (uint64_t)WHOLE_MAX;
}

void answer_text_sums(const cJSON *answer, struct view_tree *ret) {
  double samples = field_number(answer, "samples");
  bool is_told = field_find(answer, "effective_samples") != NULL;
  double effective = is_told ? field_number(answer, "effective_samples") : samples;
  *ret = (struct view_tree){.total_weight = answer_text_whole(field_number(answer, "total")),
                            .total_count = answer_text_whole(samples),
                            .evidence = {effective, effective}};
}

static struct view_share share_in(const cJSON *row, const char *key, const char *key_ci) {
  const cJSON *ci = field_find(row, key_ci);
  const cJSON *low = cJSON_GetArrayItem(ci, 0), *high = cJSON_GetArrayItem(ci, 1);
  return (struct view_share){field_number(row, key), cJSON_IsNumber(low) ? low->valuedouble : 0,
                             cJSON_IsNumber(high) ? high->valuedouble : 1};
}

static void print_loss(const cJSON *answer, struct buf *ret) {
  const cJSON *row;
  cJSON_ArrayForEach(row, field_find(answer, "loss")) if (cJSON_IsNumber(row))
      buf_printf(ret, "%.0f samples lost: %s\n", row->valuedouble, row->string);
  cJSON_ArrayForEach(row, field_find(answer, "marks"))
      buf_printf(ret, "%s: %s %s: %s\n", field_text(row, "service"), field_text(row, "mark"),
                 field_text(row, "certainty"), field_text(row, "meaning"));
  const char *kernel = field_text(answer, "kernel_hint");
  const char *unsampled = field_text(answer, "unsampled_hint");
  const char *rest = field_text(answer, "rest_hint");
  if (*kernel != '\0') buf_printf(ret, "[kernel]: %s\n", kernel);
  if (*unsampled != '\0') buf_printf(ret, "[unsampled]: %s\n", unsampled);
  if (*rest != '\0') buf_printf(ret, "[rest]: %s\n", rest);
}

static void print_head(const cJSON *answer, struct buf *ret) {
  struct view_tree sums;
  answer_text_sums(answer, &sums);
  top_text_print_total(&sums, ret);
  buf_printf(ret, ", %s to %s\n", field_text(answer, "from"), field_text(answer, "to"));
  print_loss(answer, ret);
  if (sums.total_weight == 0)
    buf_append_string(ret, "nothing was sampled there at that time: another one (--from)?\n");
}

/* Prints the basis of the answer's intervals. */
static void print_basis(const cJSON *answer, struct buf *ret) {
  const cJSON *basis = field_find(answer, "basis");
  double units = fmin(field_number(basis, "units"), UNITS_MAX);
  top_text_print_basis(
      (struct view_basis){field_text(basis, "unit"), (unsigned)answer_text_whole(units)}, ret);
}

/* Counts the rows that have enough samples, but too few boards. */
static void print_few_boards(const cJSON *rows, struct buf *ret) {
  const cJSON *row;
  int count = 0;
  cJSON_ArrayForEach(row, rows) count += cJSON_IsTrue(field_find(row, "too_few_boards")) ? 1 : 0;
  if (count > 0)
    buf_printf(ret, "%d of %d rows: too few boards to say how much, with samples enough\n", count,
               cJSON_GetArraySize(rows));
}

/* Prints how much of WHOLE the limit left out; REST has the number of rows under KEY. */
static void print_rest(const cJSON *rest, const char *key, const char *what, double whole,
                       struct buf *ret) {
  const struct top_text_rest left = {.what = what,
                                     .is_self = strcmp(what, "functions") == 0,
                                     .rows = answer_text_whole(field_number(rest, key)),
                                     .samples = answer_text_whole(field_number(rest, "samples")),
                                     .weight = field_number(rest, "weight"),
                                     .whole = whole};
  top_text_print_rest(&left, ret);
}

/* Prints the rows of LIST, each as MAKE converts it. */
static void print_list(const cJSON *list, struct top_text_row (*make)(const cJSON *row),
                       void (*print_more)(const cJSON *row, struct buf *ret),
                       const struct top_text *style, struct buf *ret) {
  uint32_t count = 0, size = (uint32_t)cJSON_GetArraySize(list);
  struct top_text_row *rows = calloc((size_t)size + 1, sizeof *rows);
  const cJSON *at;
  if (rows != NULL) cJSON_ArrayForEach(at, list) rows[count++] = make(at);
  if (rows == NULL || top_text_tell_apart(rows, count) != 0) ret->failed = true;
  uint32_t i = 0;
  cJSON_ArrayForEach(at, list) {
    if (i == count) break;
    top_text_print_row(&rows[i++], style, ret);
    if (print_more != NULL) print_more(at, ret);
  }
  free(rows);
}

/* Prints how stacks ended, and explains the reasons of short stacks. */
static void print_stacks(const cJSON *answer, struct buf *ret) {
  const cJSON *stacks = field_find(answer, "stacks"), *row;
  const char *before = "stacks: ";
  if (field_number(stacks, "weight") <= 0) return;
  cJSON_ArrayForEach(row, stacks) {
    if (!cJSON_IsNumber(row) || strcmp(row->string, "weight") == 0 || row->valuedouble <= 0)
      continue;
    buf_printf(ret, "%s%.1f %% %s", before, 100 * row->valuedouble, row->string);
    before = ", ";
  }
  buf_append_byte(ret, '\n');
  cJSON_ArrayForEach(row, field_find(stacks, "meanings")) if (cJSON_IsString(row))
      buf_printf(ret, "  %s: %s\n", row->string, row->valuestring);
}

void answer_text_head(const cJSON *answer, struct buf *ret) {
  print_head(answer, ret);
  print_stacks(answer, ret);
}

static struct top_text_row function_row(const cJSON *row) {
  return (struct top_text_row){.name = field_text(row, "name"),
                               .module = field_text(row, "module"),
                               .self = share_in(row, "self_share", "self_ci"),
                               .total = field_number(row, "total_share"),
                               .file = field_text(row, "file")};
}

void answer_text_top(const cJSON *answer, const struct top_text *style, struct buf *ret) {
  const cJSON *functions = field_find(answer, "functions");
  answer_text_head(answer, ret);
  if (cJSON_GetArraySize(functions) > 0) {
    print_basis(answer, ret);
    buf_append_string(ret, TOP_TEXT_HEADING);
  }
  print_list(functions, function_row, NULL, style, ret);
  print_rest(field_find(answer, "rest"), "functions", "functions", field_number(answer, "total"),
             ret);
  print_few_boards(functions, ret);
}

static struct top_text_row load_row(const cJSON *row) {
  const char *name = field_text(row, "name");
  return (struct top_text_row){.name = *name != '\0' ? name : "(none)",
                               .module = field_text(row, "module"),
                               .self = share_in(row, "share", "ci"),
                               .total = -1,
                               .file = field_text(row, "file")};
}

void answer_text_load(const cJSON *answer, const struct top_text *style, struct buf *ret) {
  const cJSON *rows = field_find(answer, "rows");
  print_head(answer, ret);
  print_basis(answer, ret);
  buf_printf(ret, "  share     95 %% interval  %s\n", field_text(answer, "by"));
  print_list(rows, load_row, NULL, style, ret);
  print_rest(field_find(answer, "rest"), "rows", "rows", field_number(answer, "total"), ret);
  print_few_boards(rows, ret);
}

static struct top_text_row edge_row(const cJSON *row) {
  return (struct top_text_row){.name = field_text(row, "function"),
                               .module = field_text(row, "module"),
                               .self = share_in(row, "share", "ci"),
                               .total = -1,
                               .file = field_text(row, "file")};
}

static void print_extrapolated(const cJSON *row, struct buf *ret) {
  if (field_number(row, "extrapolated") > 0)
    buf_printf(ret, "%30s%.1f %% of it extrapolated\n", "",
               100 * field_number(row, "extrapolated") / field_number(row, "weight"));
}

/* RELATION: how the rows relate to the requested function.  REST: the plural noun for the rows. */
static void print_edges(const cJSON *answer, const char *relation, const char *rest,
                        const struct top_text *style, struct buf *ret) {
  const cJSON *pairs = field_find(answer, "lr");
  print_head(answer, ret);
  buf_append_string(ret, relation);
  name_fit_print(field_text(answer, "function"), style->columns / 2, ret);
  buf_append_string(ret, ": shares are of its own total\n");
  print_basis(answer, ret);
  buf_append_string(ret, "  share     95 % interval  function\n");
  print_list(field_find(answer, "edges"), edge_row, print_extrapolated, style, ret);
  print_rest(field_find(answer, "rest"), "functions", rest, field_number(answer, "total"), ret);
  if (field_number(pairs, "weight") > 0)
    buf_printf(ret, "link registers tell the caller of %.1f %% of the samples without a stack\n",
               100 * field_number(pairs, "resolvable_share"));
}

void answer_text_callers(const cJSON *answer, const struct top_text *style, struct buf *ret) {
  print_edges(answer, "callers of ", "callers", style, ret);
}

void answer_text_callees(const cJSON *answer, const struct top_text *style, struct buf *ret) {
  print_edges(answer, "called by ", "callees", style, ret);
}

/* ---- one function ---- */

static double percent_of(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

static void print_place(const cJSON *row, struct buf *ret) {
  const char *file = field_text(row, "file");
  if (*file == '\0')
    buf_append_string(ret, "(line not known)");
  else if (field_number(row, "line") > 0)
    buf_printf(ret, "%s:%.0f", file, field_number(row, "line"));
  else
    buf_append_string(ret, file);
}

/* Prints the source line, if the source was uploaded. */
static void print_source(const cJSON *row, struct buf *ret) {
  const char *text = field_text(row, "text");
  text += strspn(text, " \t");
  if (*text != '\0') buf_printf(ret, "  %.160s", text);
}

/* Prints one list of rows with self and total, as shares of the function's own. */
static void print_rows(const cJSON *answer, const char *list, const char *heading, uint32_t limit,
                       struct buf *ret) {
  const cJSON *rows = field_find(answer, list), *function = field_find(answer, "function"), *row;
  double self = field_number(function, "self"), total = field_number(function, "total");
  uint32_t shown = 0;
  if (cJSON_GetArraySize(rows) == 0) return;
  buf_printf(ret, "\n   self    total  %s\n", heading);
  cJSON_ArrayForEach(row, rows) {
    if (shown++ == limit) break;
    buf_printf(ret, "%5.1f %%  %5.1f %%  ", percent_of(field_number(row, "self"), self),
               percent_of(field_number(row, "total"), total));
    if (strcmp(list, "by_line") == 0 || strcmp(list, "definitions") == 0)
      print_place(row, ret);
    else
      buf_append_string(ret, strcmp(list, "by_build") == 0 ? field_text(row, "build_id")
                                                           : field_text(row, "name"));
    if (*field_text(row, "module") != '\0') buf_printf(ret, "  (%s)", field_text(row, "module"));
    print_source(row, ret);
    buf_append_byte(ret, '\n');
  }
  print_rest(field_find(field_find(answer, "rest"), list), "rows", "rows", self, ret);
}

/* If there are several builds, each row names its build: an offset belongs to one build. */
static void print_offsets(const cJSON *answer, uint32_t limit, struct buf *ret) {
  const cJSON *rows = field_find(answer, "by_offset"), *row;
  double self = field_number(field_find(answer, "function"), "self");
  bool has_builds = cJSON_GetArraySize(field_find(answer, "by_build")) > 1;
  uint32_t shown = 0;
  if (cJSON_GetArraySize(rows) == 0) return;
  buf_append_string(ret, "\n   self  offset\n");
  cJSON_ArrayForEach(row, rows) {
    if (shown++ == limit) break;
    buf_printf(ret, "%5.1f %%  %s", percent_of(field_number(row, "self"), self),
               field_text(row, "code"));
    if (cJSON_IsNull(field_find(row, "offset")))
      buf_printf(ret, " at %s", field_text(row, "address"));
    else
      buf_printf(ret, "+0x%llx",
                 (unsigned long long)answer_text_whole(field_number(row, "offset")));
    buf_printf(ret, has_builds ? "  (%s, build-id %.12s)\n" : "  (%s)\n", field_text(row, "module"),
               field_text(row, "build_id"));
  }
  print_rest(field_find(field_find(answer, "rest"), "by_offset"), "rows", "rows", self, ret);
}

void answer_text_function(const cJSON *answer, const struct top_text *style, struct buf *ret) {
  const cJSON *function = field_find(answer, "function");
  const struct top_text_row text = {.name = field_text(function, "name"),
                                    .module = "",
                                    .self = share_in(function, "self_share", "self_ci"),
                                    .total = field_number(function, "total_share")};
  print_head(answer, ret);
  print_basis(answer, ret);
  buf_append_string(ret, TOP_TEXT_HEADING);
  top_text_print_row(&text, style, ret);
  if (cJSON_IsTrue(field_find(function, "too_few_boards")))
    buf_append_string(ret, "too few boards to say how much, with samples enough\n");
  print_rows(answer, "definitions", "declared at", style->limit, ret);
  print_rows(answer, "by_line", "line", style->limit, ret);
  print_offsets(answer, style->limit, ret);
  print_rows(answer, "by_build", "build-id", style->limit, ret);
  print_rows(answer, "by_board", "board", style->limit, ret);
  print_rows(answer, "by_thread", "thread", style->limit, ret);
}

/* ---- over time ---- */

static void print_points(const cJSON *series, const char *name, double step, struct buf *ret) {
  const cJSON *point;
  cJSON_ArrayForEach(point, field_find(series, "points")) {
    const cJSON *time = cJSON_GetArrayItem(point, 0), *weight = cJSON_GetArrayItem(point, 1);
    char text[32];
    if (!cJSON_IsNumber(time) || !cJSON_IsNumber(weight)) continue;
    clock_print_time(answer_text_whole(fmin(time->valuedouble, SECONDS_MAX)) * NS_PER_SECOND, text);
    buf_printf(ret, "%.*sZ  %9.3f s  %8.3f CPUs%s%s\n", TIME_BYTES - 1, text,
               weight->valuedouble / (double)NS_PER_SECOND,
               weight->valuedouble / (double)NS_PER_SECOND / step, *name != '\0' ? "  " : "", name);
  }
}

void answer_text_series(const cJSON *answer, const struct top_text *style, struct buf *ret) {
  const cJSON *series, *rest = field_find(answer, "rest");
  const char *by = field_text(answer, "by");
  double step = field_number(answer, "step");
  (void)style;
  print_head(answer, ret);
  buf_printf(ret, "%-20s  %11s  %13s%s%s\n", "time", "CPU time", "on average",
             *by != '\0' ? "  " : "", by);
  cJSON_ArrayForEach(series, field_find(answer, "series"))
      print_points(series, field_text(field_find(series, "labels"), by), step > 0 ? step : 1, ret);
  if (field_number(rest, "series") > 0)
    print_points(rest, "(all others)", step > 0 ? step : 1, ret);
}
