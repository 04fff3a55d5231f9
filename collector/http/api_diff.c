/* SPDX-License-Identifier: Apache-2.0 */
/* What changed between two selections.

   Each side is a selector and a range; what a side does not say is said for both by match, from and
   to.  Of one selector compared with itself at two times people give what is new: where a has no
   times of its own it is what was before b, of the same length, and where it has only a start it
   ends where b begins. */
#include "api.h"

#include "common/clock.h"
#include "common/json.h"
#include "query_answer.h"
#include "request.h"
#include "selection.h"
#include "view/diff_json.h"
#include "view/table_json.h"

#include <errno.h>
#include <string.h>

struct side {
  struct selection selection;
  struct view_tree tree;
};

static bool has(const struct request *request, const char *name) {
  return parameters_find(&request->parameters, name) != NULL;
}

static const char *selector_of(const struct request *request, const char *side) {
  const char *text = parameters_find(&request->parameters, side);
  if (text == NULL) text = parameters_find(&request->parameters, "match");
  return text != NULL ? text : "";
}

/* A, of the same selector as B, is earlier than it where the request does not say when. */
static void place_before(const struct request *request, struct selection *a,
                         const struct selection *b) {
  if (strcmp(selector_of(request, "a"), selector_of(request, "b")) != 0) return;
  if (!has(request, "b_from") || has(request, "a_to")) return;
  if (has(request, "a_from")) {
    if (a->from_ms < b->from_ms) a->to_ms = b->from_ms;
    return;
  }
  uint64_t length_ms = b->to_ms - b->from_ms;
  a->to_ms = b->from_ms;
  a->from_ms = b->from_ms > length_ms ? b->from_ms - length_ms : 0;
}

static int build_tree(struct request *request, struct side *side) {
  const struct query_source source = query_answer_source(request);
  const struct query_range range = query_answer_range(request, &side->selection);
  return query_tree(&source, &range, &request->arena, &side->tree);
}

static void write_side(struct json *json, const char *key, const struct side *side) {
  json_key(json, key);
  json_open(json, '{');
  table_json_summary(json, &side->tree, view_basis(&side->tree),
                     side->selection.from_ms * NS_PER_MS, side->selection.to_ms * NS_PER_MS);
  json_close(json, '}');
}

static int write_answer(struct request *request, const struct side *a, const struct side *b) {
  struct view_diff_row *rows;
  struct json json;
  uint32_t count;
  int error = view_diff(&a->tree, &b->tree, &request->arena, &rows, &count);
  if (error != 0) return error;
  answer_begin_json(&request->answer, &json);
  write_side(&json, "a", a);
  write_side(&json, "b", b);
  diff_json_write(&json, &a->tree, &b->tree, rows, count, a->selection.limit);
  answer_end_json(&request->answer, &json);
  return 0;
}

static void answer_error(struct request *request, int error) {
  if (error == -ENOMEM)
    query_answer_no_memory(request, "narrow a and b or their time ranges");
  else if (error == -EOVERFLOW)
    answer_problem(&request->answer, 422, NULL,
                   "limit memory: the selections hold too many different stacks for one answer: "
                   "narrow a and b "
                   "or their time ranges");
  else if (error == -E2BIG)
    query_answer_end(request, error);
  else if (error == -ETIMEDOUT)
    answer_problem(
        &request->answer, 504, NULL,
        "limit time: the query was given up at its time limit of %d seconds, waiting included: "
        "narrow a and b or their time ranges",
        QUERY_SECONDS_MAX);
  else
    answer_problem(&request->answer, 500, NULL, "the store did not answer: %s", strerror(-error));
}

void api_diff(struct request *request) {
  struct selection_fault fault;
  struct side a = {.selection = {0}}, b = {.selection = {0}};
  uint64_t now_ns = clock_walltime_ns();
  int error = selection_parse_side(&request->parameters, "a", now_ns, &a.selection, &fault);
  if (error == 0)
    error = selection_parse_side(&request->parameters, "b", now_ns, &b.selection, &fault);
  if (error != 0) {
    answer_problem(&request->answer, 400, fault.parameter, "%s", fault.detail);
  } else {
    place_before(request, &a.selection, &b.selection);
    error = build_tree(request, &a);
    if (error == 0) error = build_tree(request, &b);
    if (error == 0) error = write_answer(request, &a, &b);
    if (error != 0) answer_error(request, error);
  }
  selection_fini(&a.selection);
  selection_fini(&b.selection);
}
