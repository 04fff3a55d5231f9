/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time went.  One query builds the named call tree of the selection; the three formats
   are three ways to write it down.

   `limit` is how many rows are written, never how much is counted: shares are of the whole.  For
   the table it is 100 unless asked for.  A tree that lost branches would no longer add up, so tree
   and folded are whole unless a limit is given; then the nodes with the most weight stay (an inner
   node weighs at least what its children do, so what stays is still a tree), and what a node's
   children no longer explain is simply its total less theirs. */
#include "api.h"

#include "common/clock.h"
#include "common/json.h"
#include "proto/loss.h"
#include "query/query.h"
#include "request.h"
#include "selection.h"
#include "view/marks.h"

#include <errno.h>
#include <stdlib.h>

/* Less than a connection waits for an answer (2 minutes): the query hears of it, not only whoever
   asked, and the next one gets the thread. */
enum { QUERY_SECONDS_MAX = 110 };

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

static void write_summary(struct json *json, const struct view_tree *tree,
                          const struct selection *selection) {
  char from[32], to[32];
  clock_print_time(selection->from_ms * NS_PER_MS, from);
  clock_print_time(selection->to_ms * NS_PER_MS, to);
  json_key_uint(json, "total", tree->total_weight);
  json_key_string(json, "unit", "nanoseconds");
  json_key_uint(json, "samples", tree->total_count);
  json_key_string(json, "from", from);
  json_key_string(json, "to", to);
  write_loss(json, tree->loss);
  write_marks(json, tree);
}

static void write_share(struct json *json, const char *key, const char *key_ci,
                        const struct view_share *share) {
  json_key(json, key);
  json_double(json, share->share);
  json_key(json, key_ci);
  json_open(json, '[');
  json_double(json, share->low);
  json_double(json, share->high);
  json_close(json, ']');
}

static void write_function(struct json *json, const struct view_function *function) {
  json_key_string(json, "name", function->name);
  json_key_string(json, "module", function->module);
  json_key_string(json, "file", function->file);
}

static int write_top(struct request *request, const struct view_tree *tree,
                     const struct selection *selection) {
  struct view_top_row *rows;
  uint32_t count;
  int error = view_top(tree, &request->arena, &rows, &count);
  if (error) return error;
  struct json json;
  answer_begin_json(&request->answer, &json);
  write_summary(&json, tree, selection);
  json_key(&json, "functions");
  json_open(&json, '[');
  for (uint32_t i = 0; i < count && i < selection->limit && !json.is_full; i++) {
    json_open(&json, '{');
    write_function(&json, &tree->functions[rows[i].function]);
    json_key_uint(&json, "self", rows[i].self_weight);
    json_key_uint(&json, "total", rows[i].total_weight);
    write_share(&json, "self_share", "self_ci", &rows[i].self);
    write_share(&json, "total_share", "total_ci", &rows[i].total);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  answer_end_json(&request->answer, &json);
  return 0;
}

struct ranked {
  uint64_t weight;
  uint32_t node;
};

static int compare_ranked(const void *a, const void *b) {
  const struct ranked *one = a, *other = b;
  if (one->weight != other->weight) return one->weight < other->weight ? 1 : -1;
  return one->node < other->node ? -1 : one->node > other->node; /* parents before children */
}

/* Gives each node that stays its new index, and the others UINT32_MAX.  They are ranked by their
   own weight (BY_SELF) or by all that passes through them. */
static uint32_t *choose_nodes(struct request *request, const struct view_tree *tree,
                              const struct selection *selection, bool by_self) {
  uint32_t *index = arena_array(&request->arena, tree->node_count, sizeof *index);
  struct ranked *ranked = arena_array(&request->arena, tree->node_count, sizeof *ranked);
  if (index == NULL || ranked == NULL) return NULL;
  for (uint32_t i = 0; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    ranked[i] = (struct ranked){by_self ? node->self_weight : node->total_weight, i};
    index[i] = UINT32_MAX;
  }
  uint32_t kept = tree->node_count;
  if (selection->has_limit && selection->limit < kept) {
    qsort(ranked, tree->node_count, sizeof *ranked, compare_ranked);
    kept = selection->limit;
  }
  for (uint32_t i = 0; i < kept; i++) index[ranked[i].node] = 0;
  uint32_t next = 0;
  for (uint32_t i = 0; i < tree->node_count; i++)
    if (index[i] == 0) index[i] = next++;
  return index;
}

static void write_node(struct json *json, const struct view_tree *tree, uint32_t at,
                       const uint32_t *index) {
  const struct view_node *node = &tree->nodes[at];
  const struct view_function *function = &tree->functions[node->function];
  json_open(json, '{');
  write_function(json, function);
  json_key(json, "line");
  if (function->line)
    json_uint(json, function->line);
  else
    json_string(json, NULL);
  json_key(json, "parent");
  json_int(json, node->parent == UINT32_MAX ? -1 : (int64_t)index[node->parent]);
  json_key_uint(json, "self", node->self_weight);
  json_key_uint(json, "total", node->total_weight);
  json_close(json, '}');
}

static int write_tree(struct request *request, const struct view_tree *tree,
                      const struct selection *selection) {
  uint32_t *index = choose_nodes(request, tree, selection, false);
  if (index == NULL) return -ENOMEM;
  struct json json;
  answer_begin_json(&request->answer, &json);
  write_summary(&json, tree, selection);
  json_key(&json, "nodes");
  json_open(&json, '[');
  for (uint32_t i = 0; i < tree->node_count && !json.is_full; i++)
    if (index[i] != UINT32_MAX) write_node(&json, tree, i, index);
  json_close(&json, ']');
  answer_end_json(&request->answer, &json);
  return 0;
}

static int write_folded(struct request *request, const struct view_tree *tree,
                        const struct selection *selection) {
  struct answer *answer = &request->answer;
  uint32_t *index = choose_nodes(request, tree, selection, true);
  if (index == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < tree->node_count; i++)
    if (index[i] == UINT32_MAX) tree->nodes[i].self_weight = 0; /* then it is no stack's leaf */
  answer->type = "text/plain; charset=utf-8";
  int error = view_folded(tree, &request->arena, &answer->body);
  if (error == 0 && answer->body.len > ANSWER_BYTES_MAX) error = -EOVERFLOW;
  return error;
}

static const struct {
  const char *name;
  int (*write)(struct request *request, const struct view_tree *tree,
               const struct selection *selection);
} formats[] = {{"top", write_top}, {"tree", write_tree}, {"folded", write_folded}};

static void answer_selection(struct request *request, const struct selection *selection,
                             size_t format) {
  struct query_source source = {request->service->parts.store, request->service->parts.symbolizer};
  struct query_range range = {selection->selector, selection->from_ms, selection->to_ms,
                              selection->types,
                              request->started_ns + QUERY_SECONDS_MAX * NS_PER_SECOND};
  struct view_tree tree = {0};
  int error = query_tree(&source, &range, &request->arena, &tree);
  if (error == 0) error = formats[format].write(request, &tree, selection);
  if (error == -ENOMEM || error == -EOVERFLOW)
    answer_problem(&request->answer, 422, NULL,
                   "the selection holds too many different stacks for one answer: narrow match or "
                   "the time range");
  else if (error == -ETIMEDOUT)
    answer_problem(&request->answer, 504, NULL,
                   "the query was given up at its time limit of %d seconds, waiting included: "
                   "narrow match or the time range",
                   QUERY_SECONDS_MAX);
  else if (error)
    answer_problem(&request->answer, 500, NULL, "the store did not answer: %s", strerror(-error));
}

void api_profile(struct request *request) {
  const char *name = parameters_find(&request->parameters, "format");
  size_t format = 0, count = sizeof formats / sizeof *formats;
  while (name && format < count && strcmp(formats[format].name, name) != 0) format++;
  if (format == count) {
    answer_problem(&request->answer, 400, "format",
                   "format: \"%.64s\" is not one of top, tree, folded", name);
    return;
  }
  struct selection selection;
  struct selection_fault fault;
  if (selection_parse(&request->parameters, clock_walltime_ns(), &selection, &fault) != 0) {
    answer_problem(&request->answer, 400, fault.parameter, "%s", fault.detail);
    return;
  }
  answer_selection(request, &selection, format);
  selection_fini(&selection);
}
