/* SPDX-License-Identifier: Apache-2.0 */
/* Function-level load, by any key that distinguishes samples. Without a limit all rows are written
   and add up to the total. Rows beyond a limit are summed up in `rest`, so that the sum stays the
   same. */
#include "api.h"

#include "common/clock.h"
#include "common/json.h"
#include "query/load.h"
#include "query_answer.h"
#include "view/table_json.h"

static void write_row(struct json *json, const struct query_load_row *row) {
  json_open(json, '{');
  json_key_string(json, "name", row->name);
  if (*row->module != '\0') {
    json_key_string(json, "module", row->module);
    json_key_string(json, "file", row->file);
  }
  json_key_wide(json, "weight", row->weight);
  json_key_uint(json, "samples", row->count);
  table_json_share(json, "share", "ci", &row->share);
  table_json_mark(json, row->lack);
  json_close(json, '}');
}

static void write_rest(struct json *json, const struct query_load *load, uint32_t from) {
  struct table_rest rest = {.rows = 0};
  for (uint32_t i = from; i < load->count; i++)
    table_rest_add(&rest, load->rows[i].weight, load->rows[i].count);
  table_json_rest(json, "rest", "rows", &rest);
}

static void write_load(struct request *request, const struct selection *selection, const char *by,
                       const struct query_load *load) {
  struct json json;
  uint32_t limit = selection->has_limit ? selection->limit : SELECTION_LIMIT_MAX;
  uint32_t shown = load->count < limit ? load->count : limit;
  answer_begin_json(&request->answer, &json);
  table_json_summary(&json, &load->whole, load->basis, selection->from_ms * NS_PER_MS,
                     selection->to_ms * NS_PER_MS);
  json_key_string(&json, "by", by);
  json_key(&json, "rows");
  json_open(&json, '[');
  for (uint32_t i = 0; i < shown && !json.is_full; i++) write_row(&json, &load->rows[i]);
  json_close(&json, ']');
  write_rest(&json, load, shown);
  answer_end_json(&request->answer, &json);
}

static void answer_load(struct request *request, const struct selection *selection,
                        const char *by) {
  struct query_source source = query_answer_source(request);
  struct query_range range = query_answer_range(request, selection);
  struct query_load load;
  int error = query_load(&source, &range, by, &request->arena, &load);
  if (error != 0)
    query_answer_end(request, error);
  else if (load.is_unknown)
    query_answer_no_label(request, by, load.nearest);
  else
    write_load(request, selection, by, &load);
}

void api_load(struct request *request) {
  const char *by = parameters_find(&request->parameters, "by");
  struct selection selection;
  if (by == NULL || *by == '\0') {
    answer_problem(&request->answer, 400, "by",
                   "by: is missing: function, module, thread, service, board, or another label");
    return;
  }
  if (query_answer_select(request, &selection) != 0) return;
  answer_load(request, &selection, by);
  selection_fini(&selection);
}
