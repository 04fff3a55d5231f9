/* SPDX-License-Identifier: Apache-2.0 */
/* Details of one function. `function` equals its row in the function table. The lists are whole
   unless a limit is given; then each keeps its heaviest rows. If the sources of a build were
   uploaded, lines have their text, and `source` has the listing around them. */
#include "api.h"

#include "common/clock.h"
#include "common/json.h"
#include "query/detail.h"
#include "query_answer.h"
#include "source_text.h"
#include "view/table_json.h"

#include <errno.h>
#include <stdio.h>

enum { ADDRESS_BYTES = 24 };

static void write_sums(struct json *json, const struct detail_question *question,
                       const struct query_detail *detail) {
  json_key(json, "function");
  json_open(json, '{');
  json_key_string(json, "name", question->function);
  json_key_wide(json, "self", detail->self);
  json_key_wide(json, "total", detail->total);
  json_key_uint(json, "self_samples", detail->self_count);
  json_key_uint(json, "total_samples", detail->total_count);
  table_json_share(json, "self_share", "self_ci", &detail->self_share);
  table_json_share(json, "total_share", "total_ci", &detail->total_share);
  table_json_mark(json, detail->lack);
  json_close(json, '}');
}

/* The address is text: it has 64 bits, and numbers in JavaScript have 53. */
static void write_place(struct json *json, const struct detail_offset *offset) {
  char address[ADDRESS_BYTES];
  json_key(json, "offset");
  if (offset->has_offset)
    json_uint(json, offset->offset);
  else
    json_string(json, NULL);
  snprintf(address, sizeof address, "0x%llx", (unsigned long long)offset->address);
  json_key_string(json, "address", address);
}

static void write_offsets(struct json *json, const struct query_detail *detail, uint32_t limit) {
  json_key(json, "by_offset");
  json_open(json, '[');
  for (uint32_t i = 0; i < detail->offset_count && i < limit && !json->is_full; i++) {
    const struct detail_offset *offset = &detail->offsets[i];
    json_open(json, '{');
    write_place(json, offset);
    json_key_string(json, "code", offset->function);
    json_key_string(json, "module", offset->module);
    json_key_string(json, "build_id", offset->build_id);
    json_key_wide(json, "self", offset->weight);
    json_key_uint(json, "samples", offset->count);
    json_close(json, '}');
  }
  json_close(json, ']');
}

/* The keys of the rows of one list. */
struct list_form {
  const char *key, *name;
  bool has_module, has_line;
  struct source_text *text; /* or NULL */
};

static void write_line(struct json *json, uint32_t line) {
  json_key(json, "line");
  if (line > 0)
    json_uint(json, line);
  else
    json_string(json, NULL);
}

/* Writes the source text of ROW's line, if available. */
static void write_text(struct json *json, struct source_text *text, const struct detail_row *row) {
  struct span line;
  if (!source_text_line(text, row->name, row->line, &line)) return;
  json_key(json, "text");
  json_span(json, line);
}

static void write_rows(struct json *json, const struct list_form *form,
                       const struct detail_rows *rows, uint32_t limit) {
  json_key(json, form->key);
  json_open(json, '[');
  for (uint32_t i = 0; i < rows->count && i < limit && !json->is_full; i++) {
    const struct detail_row *row = &rows->rows[i];
    json_open(json, '{');
    json_key_string(json, form->name, row->name);
    if (form->has_module) json_key_string(json, "module", row->module);
    if (form->has_line) write_line(json, row->line);
    json_key_wide(json, "self", row->self);
    json_key_wide(json, "total", row->total);
    json_key_uint(json, "samples", row->self_count);
    if (form->text != NULL) write_text(json, form->text, row);
    json_close(json, '}');
  }
  json_close(json, ']');
}

/* Writes the lines that have samples, and the lines between them. */
static void write_source(struct json *json, struct source_text *text,
                         const struct detail_rows *lines) {
  struct source_listing listing;
  struct span line;
  if (!source_text_choose(text, lines, &listing)) return;
  json_key(json, "source");
  json_open(json, '{');
  json_key_string(json, "file", listing.path);
  json_key_string(json, "build_id", text->build_id);
  json_key_uint(json, "first_line", listing.first);
  json_key(json, "lines");
  json_open(json, '[');
  for (uint32_t i = listing.first; i <= listing.last && !json->is_full; i++)
    if (source_text_line(text, listing.path, i, &line)) json_span(json, line);
  json_close(json, ']');
  json_close(json, '}');
}

static void write_rest_of_rows(struct json *json, const char *key, const struct detail_rows *rows,
                               uint32_t limit) {
  struct table_rest rest = {.rows = 0};
  for (uint32_t i = limit; i < rows->count; i++)
    table_rest_add(&rest, rows->rows[i].self, rows->rows[i].self_count);
  table_json_rest(json, key, "rows", &rest);
}

/* Writes the sums of the rows that LIMIT left out of each list. */
static void write_rests(struct json *json, const struct query_detail *detail, uint32_t limit) {
  struct table_rest rest = {.rows = 0};
  json_key(json, "rest");
  json_open(json, '{');
  write_rest_of_rows(json, "definitions", &detail->definitions, limit);
  for (uint32_t i = limit; i < detail->offset_count; i++)
    table_rest_add(&rest, detail->offsets[i].weight, detail->offsets[i].count);
  table_json_rest(json, "by_offset", "rows", &rest);
  write_rest_of_rows(json, "by_line", &detail->lines, limit);
  write_rest_of_rows(json, "by_build", &detail->builds, limit);
  write_rest_of_rows(json, "by_board", &detail->boards, limit);
  write_rest_of_rows(json, "by_thread", &detail->threads, limit);
  json_close(json, '}');
}

static void write_detail(struct request *request, const struct selection *selection,
                         const struct detail_question *question,
                         const struct query_detail *detail) {
  static const struct list_form definitions = {"definitions", "file", true, true, NULL},
                                builds = {"by_build", "build_id", true, false, NULL},
                                boards = {"by_board", "name", false, false, NULL},
                                threads = {"by_thread", "name", false, false, NULL};
  struct source_text text;
  const struct list_form lines = {"by_line", "file", false, true, &text};
  struct json json;
  uint32_t limit = selection->has_limit ? selection->limit : SELECTION_LIMIT_MAX;
  source_text_open(request->service->parts.sources, &detail->builds, &request->arena, &text);
  answer_begin_json(&request->answer, &json);
  table_json_summary(&json, &detail->whole, detail->basis, selection->from_ms * NS_PER_MS,
                     selection->to_ms * NS_PER_MS);
  write_sums(&json, question, detail);
  write_rows(&json, &definitions, &detail->definitions, limit);
  write_offsets(&json, detail, limit);
  write_rows(&json, &lines, &detail->lines, limit);
  write_source(&json, &text, &detail->lines);
  write_rows(&json, &builds, &detail->builds, limit);
  write_rows(&json, &boards, &detail->boards, limit);
  write_rows(&json, &threads, &detail->threads, limit);
  write_rests(&json, detail, limit);
  source_text_close(&text);
  answer_end_json(&request->answer, &json);
}

static void answer_question(struct request *request, const struct selection *selection,
                            const struct detail_question *question) {
  struct query_source source = query_answer_source(request);
  struct query_range range = query_answer_range(request, selection);
  struct query_detail detail;
  int error = query_detail(&source, &range, question, &request->arena, &detail);
  if (error == 0)
    write_detail(request, selection, question, &detail);
  else if (error == -ENOENT)
    query_answer_no_function(request, question->function, detail.near_names, detail.near_count);
  else
    query_answer_end(request, error);
}

void api_function(struct request *request) {
  struct selection selection;
  const struct detail_question question = {parameters_find(&request->parameters, "function"),
                                           parameters_find(&request->parameters, "module")};
  if (question.function == NULL || *question.function == '\0') {
    answer_problem(&request->answer, 400, "function", "function: which one? function=NAME");
    return;
  }
  if (query_answer_select(request, &selection) != 0) return;
  answer_question(request, &selection, &question);
  selection_fini(&selection);
}
