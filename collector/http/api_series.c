/* SPDX-License-Identifier: Apache-2.0 */
/* Load over time, for timelines. Steps begin at multiples of their length whatever the range, so
   answers about overlapping ranges have the same steps. */
#include "api.h"

#include "common/clock.h"
#include "common/json.h"
#include "query/series.h"
#include "query_answer.h"
#include "view/table_json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { STEP_SECONDS = 60, STEP_SECONDS_MAX = 366 * 86400 };

/* Returns the shortest step, in whole minutes, that keeps SELECTION within the limit of steps. */
static uint64_t shortest_step(const struct selection *selection) {
  uint64_t seconds = (selection->to_ms - selection->from_ms) / 1000;
  uint64_t step = (seconds / SERIES_STEPS_MAX / STEP_SECONDS + 1) * STEP_SECONDS;
  while (series_step_count(selection->from_ms, selection->to_ms, step) > SERIES_STEPS_MAX)
    step += STEP_SECONDS;
  return step;
}

/* Returns 0 with the step in RET, or -EINVAL with the problem as REQUEST's answer. */
static int read_step(struct request *request, const struct selection *selection, uint64_t *ret) {
  const char *text = parameters_find(&request->parameters, "step");
  uint64_t step = 0;
  if (text == NULL) {
    *ret = shortest_step(selection);
    return 0;
  }
  if (selection_parse_count(text, STEP_SECONDS_MAX, &step) != 0 || step == 0) {
    answer_problem(&request->answer, 400, "step",
                   "step: \"%.64s\" is not a number of seconds from 1 to %d", text,
                   STEP_SECONDS_MAX);
    return -EINVAL;
  }
  if (series_step_count(selection->from_ms, selection->to_ms, step) > SERIES_STEPS_MAX) {
    answer_problem(&request->answer, 400, "step",
                   "step: %" PRIu64 " seconds cut this range into more than %d steps: %" PRIu64
                   " seconds do not",
                   step, SERIES_STEPS_MAX, shortest_step(selection));
    return -EINVAL;
  }
  *ret = step;
  return 0;
}

static void write_points(struct json *json, const struct query_series_row *row) {
  json_key_wide(json, "weight", row->weight);
  json_key(json, "points");
  json_open(json, '[');
  for (uint32_t i = 0; i < row->point_count && !json->is_full; i++) {
    json_open(json, '[');
    json_uint(json, row->points[i].time_s);
    json_wide(json, row->points[i].weight);
    json_close(json, ']');
  }
  json_close(json, ']');
}

static void write_row(struct json *json, const struct series_wish *wish,
                      const struct query_series_row *row) {
  json_open(json, '{');
  json_key(json, "labels");
  json_open(json, '{');
  if (wish->by != NULL) json_key_string(json, wish->by, row->name);
  if (*row->module != '\0') json_key_string(json, "module", row->module);
  json_close(json, '}');
  write_points(json, row);
  json_close(json, '}');
}

static void write_series(struct request *request, const struct selection *selection,
                         const struct series_wish *wish, const struct query_series *series) {
  struct json json;
  answer_begin_json(&request->answer, &json);
  table_json_summary(&json, &series->whole, view_basis(&series->whole),
                     selection->from_ms * NS_PER_MS, selection->to_ms * NS_PER_MS);
  json_key_uint(&json, "step", wish->step_s);
  json_key_string(&json, "by", wish->by);
  json_key(&json, "series");
  json_open(&json, '[');
  for (uint32_t i = 0; i < series->count && !json.is_full; i++)
    write_row(&json, wish, &series->rows[i]);
  json_close(&json, ']');
  json_key(&json, "rest");
  json_open(&json, '{');
  json_key_uint(&json, "series", series->rest_count);
  write_points(&json, &series->rest);
  json_close(&json, '}');
  answer_end_json(&request->answer, &json);
}

static void answer_series(struct request *request, const struct selection *selection,
                          const struct series_wish *wish) {
  struct query_source source = query_answer_source(request);
  struct query_range range = query_answer_range(request, selection);
  struct query_series series;
  int error = query_series(&source, &range, wish, &request->arena, &series);
  if (error != 0)
    query_answer_end(request, error);
  else if (series.is_unknown)
    query_answer_no_label(request, wish->by, series.nearest);
  else
    write_series(request, selection, wish, &series);
}

void api_series(struct request *request) {
  const char *by = parameters_find(&request->parameters, "by");
  struct series_wish wish = {.by = by != NULL && *by != '\0' ? by : NULL};
  struct selection selection;
  if (query_answer_select(request, &selection) != 0) return;
  wish.limit = selection.limit;
  if (read_step(request, &selection, &wish.step_s) == 0) answer_series(request, &selection, &wish);
  selection_fini(&selection);
}
