/* SPDX-License-Identifier: Apache-2.0 */
/* Callers and callees of a function. Edges from stacks and from link registers are in one list,
   distinguished by their kind. Extrapolated weight is marked in each row. */
#include "api.h"

#include "common/clock.h"
#include "common/json.h"
#include "query/edges.h"
#include "query_answer.h"
#include "request.h"
#include "selection.h"
#include "view/ratio.h"
#include "view/table_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *name_of(const struct view_tree *tree, uint32_t function) {
  switch (function) {
  case EDGE_UNRESOLVED:
    return "[unresolved]";
  case EDGE_NOBODY:
    return "[root]";
  case EDGE_ITSELF:
    return "[self]";
  default:
    return tree->functions[function].name;
  }
}

static void write_edge(struct json *json, const struct edges_result *result,
                       const struct edge *edge) {
  bool is_function = edge->function < result->tree.function_count;
  const struct view_function *function =
      is_function ? &result->tree.functions[edge->function] : NULL;
  json_open(json, '{');
  json_key_string(json, "function", name_of(&result->tree, edge->function));
  json_key_string(json, "module", is_function ? function->module : NULL);
  json_key_string(json, "file", is_function ? function->file : NULL);
  json_key_string(json, "kind", edge->kind == EDGE_STACK ? "stack" : "lr");
  json_key_wide(json, "weight", edge->measured + edge->extrapolated);
  json_key_wide(json, "measured", edge->measured);
  json_key_wide(json, "extrapolated", edge->extrapolated);
  json_key_uint(json, "samples", edge->count);
  json_key(json, "share");
  json_double(json, edge->share.share);
  json_key(json, "ci");
  json_open(json, '[');
  json_double(json, edge->share.low);
  json_double(json, edge->share.high);
  json_close(json, ']');
  json_close(json, '}');
}

static void write_part(struct json *json, const char *kind, const struct edge_part *part) {
  json_key(json, kind);
  json_open(json, '{');
  json_key_wide(json, "weight", part->weight);
  json_key_uint(json, "samples", part->count);
}

/* Reports how the link registers were resolved: the weight resolved by each rule, and by the simple
   rule (inside or outside of the function) alone. */
static void write_pairs(struct json *json, const struct edge_answer *answer) {
  static const char *const rungs[PAIR_RUNGS] = {
      [PAIR_UNRESOLVED] = "unresolved",   [PAIR_BY_ROW] = "by_unwind_row",
      [PAIR_BY_SCAN] = "by_instructions", [PAIR_BY_SIDE] = "by_outside",
      [PAIR_BY_INLINE] = "by_inlining",
  };
  wide_sum all = 0;
  for (unsigned rung = 0; rung < PAIR_RUNGS; rung++) all += answer->rung_weight[rung];
  double resolved = (double)(all - answer->rung_weight[PAIR_UNRESOLVED]);
  write_part(json, "lr", &answer->parts[EDGE_LR]);
  json_key(json, "resolvable_share");
  json_double(json, all > 0 ? resolved / (double)all : 0);
  json_key_wide(json, "not_extrapolated", answer->refused_weight);
  json_key_uint(json, "resolvable_samples_min", EDGES_RESOLVABLE_MIN);
  for (unsigned rung = 0; rung < PAIR_RUNGS; rung++)
    json_key_wide(json, rungs[rung], answer->rung_weight[rung]);
  json_key_wide(json, "outside", answer->outside_weight);
  json_key_wide(json, "outside_refuted", answer->refuted_weight);
  json_key_wide(json, "code_not_seen", answer->unseen_weight);
  json_key_wide(json, "code_too_tangled", answer->tangled_weight);
  json_close(json, '}');
}

/* Restricts the tree's totals to the samples of this answer. */
static void make_it_the_whole(const struct edge_answer *answer, struct view_tree *tree) {
  tree->total_weight = answer->total_weight;
  tree->total_count = answer->total_count;
  tree->evidence = answer->evidence;
}

static void write_answer(struct request *request, const struct selection *selection,
                         const struct edges_question *question, struct edges_result *result) {
  struct json json;
  struct table_rest rest = {.rows = 0};
  const struct edge_answer *answer = &result->answer;
  make_it_the_whole(answer, &result->tree);
  answer_begin_json(&request->answer, &json);
  json_key_string(&json, "function", question->function);
  table_json_summary(&json, &result->tree, ratio_basis(&answer->basis),
                     selection->from_ms * NS_PER_MS, selection->to_ms * NS_PER_MS);
  write_part(&json, "stack", &answer->parts[EDGE_STACK]);
  json_close(&json, '}');
  write_pairs(&json, answer);
  json_key(&json, "edges");
  json_open(&json, '[');
  for (uint32_t i = 0; i < answer->edge_count && i < selection->limit && !json.is_full; i++)
    write_edge(&json, result, &answer->edges[i]);
  json_close(&json, ']');
  for (uint32_t i = selection->limit; i < answer->edge_count; i++)
    table_rest_add(&rest, answer->edges[i].measured + answer->edges[i].extrapolated,
                   answer->edges[i].count);
  table_json_rest(&json, "rest", "functions", &rest);
  answer_end_json(&request->answer, &json);
}

static void answer_question(struct request *request, const struct selection *selection,
                            const struct edges_question *question) {
  struct query_source source = query_answer_source(request);
  struct query_range range = query_answer_range(request, selection);
  struct edges_result result;
  int error = edges_query(&source, &range, question, &request->arena, &result);
  if (error == 0)
    write_answer(request, selection, question, &result);
  else if (error == -ENOENT)
    query_answer_no_function(request, question->function, result.near_names, result.near_count);
  else
    query_answer_end(request, error);
}

static void answer_side(struct request *request, enum edge_side side) {
  struct selection selection;
  const struct edges_question question = {
      .function = parameters_find(&request->parameters, "function"),
      .module = parameters_find(&request->parameters, "module"),
      .side = side,
  };
  if (question.function == NULL || question.function[0] == '\0') {
    answer_problem(&request->answer, 400, "function", "function: which one? function=NAME");
    return;
  }
  if (query_answer_select(request, &selection) != 0) return;
  answer_question(request, &selection, &question);
  selection_fini(&selection);
}

void api_callers(struct request *request) {
  answer_side(request, EDGE_CALLERS);
}

void api_callees(struct request *request) {
  answer_side(request, EDGE_CALLEES);
}
