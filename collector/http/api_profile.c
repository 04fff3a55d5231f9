/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles. One query builds the named call tree of the selection; the formats differ only in
   serialization.

   `limit` bounds the rows written, not the samples counted: shares are of the whole. For the table
   it is 100 by default. A tree without some branches would no longer add up, so all other formats
   are whole by default. With a limit the heaviest nodes stay. An inner node weighs at least as much
   as its children, so the result is still a tree. Weight of omitted children is a node's total less
   that of its remaining children. */
#include "api.h"

#include "common/clock.h"
#include "common/json.h"
#include "query/range.h"
#include "query_answer.h"
#include "view/export.h"
#include "view/place_table.h"
#include "view/table_json.h"
#include "view/tree_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_whole(struct json *json, const struct view_tree *tree,
                        const struct selection *selection) {
  table_json_summary(json, tree, view_basis(tree), selection->from_ms * NS_PER_MS,
                     selection->to_ms * NS_PER_MS);
}

static int write_top(struct request *request, const struct view_tree *tree,
                     const struct selection *selection) {
  const char *by = parameters_find(&request->parameters, "order");
  enum table_order order = by && strcmp(by, "total") == 0 ? TABLE_BY_TOTAL : TABLE_BY_SELF;
  struct json json;
  answer_begin_json(&request->answer, &json);
  write_whole(&json, tree, selection);
  int error = table_json_stacks(&json, tree, &request->arena);
  if (error == 0)
    error = table_json_functions(&json, tree, order, selection->limit, &request->arena);
  answer_end_json(&request->answer, &json);
  return error;
}

struct ranked {
  wide_sum weight;
  uint32_t node;
};

static int compare_ranked(const void *a, const void *b) {
  const struct ranked *one = a, *other = b;
  if (one->weight != other->weight) return one->weight < other->weight ? 1 : -1;
  return one->node < other->node ? -1 : one->node > other->node; /* parents before children */
}

/* Gives each kept node its new index, and the others UINT32_MAX. Nodes are ranked by their own
   weight (BY_SELF) or by their total. */
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

static void write_rest(struct json *json, const struct view_tree *tree, const uint32_t *index) {
  struct table_rest rest = {.rows = 0};
  for (uint32_t i = 0; i < tree->node_count; i++)
    if (index[i] == UINT32_MAX)
      table_rest_add(&rest, tree->nodes[i].self_weight, tree->nodes[i].self_count);
  table_json_rest(json, "rest", "nodes", &rest);
}

/* Stack completeness is reported only for a tree whose stacks begin at its root, not with `by`. */
static int write_nodes(struct request *request, const struct view_tree *tree,
                       const struct selection *selection,
                       int (*write)(struct json *json, const struct view_tree *tree,
                                    const uint32_t *index, struct arena *arena)) {
  bool is_by = parameters_find(&request->parameters, "by") != NULL;
  uint32_t *index = choose_nodes(request, tree, selection, false);
  if (index == NULL) return -ENOMEM;
  struct json json;
  answer_begin_json(&request->answer, &json);
  write_whole(&json, tree, selection);
  int error = is_by ? 0 : table_json_stacks(&json, tree, &request->arena);
  if (error == 0) error = write(&json, tree, index, &request->arena);
  write_rest(&json, tree, index);
  answer_end_json(&request->answer, &json);
  return error;
}

static int write_tree(struct request *request, const struct view_tree *tree,
                      const struct selection *selection) {
  return write_nodes(request, tree, selection, tree_json_nodes);
}

static int write_columns(struct request *request, const struct view_tree *tree,
                         const struct selection *selection) {
  return write_nodes(request, tree, selection, tree_json_columns);
}

/* Keeps the stacks with the heaviest leaves: sets the own weight of the others to 0. */
static int limit_stacks(struct request *request, const struct view_tree *tree,
                        const struct selection *selection) {
  uint32_t *index = choose_nodes(request, tree, selection, true);
  if (index == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < tree->node_count; i++)
    if (index[i] == UINT32_MAX) tree->nodes[i].self_weight = tree->nodes[i].self_count = 0;
  return 0;
}

/* Begins a file of unknown size as REQUEST's answer. */
static struct buf *begin_file(struct request *request) {
  request->answer.body.limit = ANSWER_BYTES_MAX;
  return &request->answer.body;
}

/* Returns -EOVERFLOW if the file is too large, else ERROR. */
static int end_file(const struct request *request, int error) {
  return request->answer.body.is_full ? -EOVERFLOW : error;
}

static int write_folded(struct request *request, const struct view_tree *tree,
                        const struct selection *selection) {
  int error = limit_stacks(request, tree, selection);
  request->answer.type = "text/plain; charset=utf-8";
  if (error == 0) error = view_folded(tree, &request->arena, begin_file(request));
  return end_file(request, error);
}

/* A file for another tool. */
struct file_form {
  const char *type, *name;
  int (*write)(const struct view_tree *tree, const struct view_origin *origin, struct arena *arena,
               struct buf *ret);
};

/* Returns whether MODULE is the executable of a service. If no executables are recorded, any file
   is. */
static bool is_program(const struct view_tree *tree, const char *module) {
  for (uint32_t i = 0; i < tree->program_count; i++)
    if (strcmp(tree->programs[i].exe, module) == 0) return true;
  return tree->program_count == 0 && module[0] != '[';
}

/* Returns the name of the program's own module: the executable. If there are several, it is the one
   with the heaviest main, else the one with the heaviest root function. */
static const char *main_module(const struct view_tree *tree) {
  const char *found = tree->program_count > 0 ? tree->programs[0].exe : "";
  wide_sum most = 0;
  bool has_main = false;
  if (tree->program_count == 1) return found;
  for (uint32_t i = 1; i < tree->node_count; i++) {
    const struct view_node *node = &tree->nodes[i];
    const struct view_function *function = &tree->functions[node->function];
    bool is_main = strcmp(function->name, "main") == 0;
    if ((!is_main && (has_main || node->parent != 0)) || !is_program(tree, function->module))
      continue;
    if (is_main == has_main && node->total_weight <= most) continue;
    has_main = is_main;
    most = node->total_weight;
    found = function->module;
  }
  return found;
}

static int write_file(struct request *request, const struct view_tree *tree,
                      const struct selection *selection, const struct file_form *form) {
  char disposition[64];
  struct answer *answer = &request->answer;
  const struct view_origin origin = {
      .title = parameters_find(&request->parameters, "match"),
      .start_ns = selection->from_ms * NS_PER_MS,
      .main_module = main_module(tree),
      .end_ns = selection->to_ms * NS_PER_MS,
      .period_ns =
          tree->total_count > 0 ? wide_sum_cut(tree->total_weight / tree->total_count) : 0};
  int error = limit_stacks(request, tree, selection);
  if (error == 0) error = form->write(tree, &origin, &request->arena, begin_file(request));
  error = end_file(request, error);
  if (error != 0) return error;
  answer->type = form->type;
  snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", form->name);
  answer_add_field(answer, "Content-Disposition", disposition);
  return 0;
}

static int write_pprof(struct request *request, const struct view_tree *tree,
                       const struct selection *selection) {
  static const struct file_form form = {"application/octet-stream", "fleetprof.pb.gz", view_pprof};
  return write_file(request, tree, selection, &form);
}

static int write_speedscope(struct request *request, const struct view_tree *tree,
                            const struct selection *selection) {
  static const struct file_form form = {"application/json", "fleetprof.speedscope.json",
                                        view_speedscope};
  return write_file(request, tree, selection, &form);
}

static int write_callgrind(struct request *request, const struct view_tree *tree,
                           const struct selection *selection) {
  static const struct file_form form = {"text/plain; charset=utf-8", "callgrind.out.fleetprof",
                                        view_callgrind};
  return write_file(request, tree, selection, &form);
}

static int write_perf_script(struct request *request, const struct view_tree *tree,
                             const struct selection *selection) {
  static const struct file_form form = {"text/plain; charset=utf-8", "fleetprof.perf.txt",
                                        view_perf_script};
  return write_file(request, tree, selection, &form);
}

static const struct {
  const char *name;
  int (*write)(struct request *request, const struct view_tree *tree,
               const struct selection *selection);
  bool with_intervals;
  unsigned places; /* enum place_part: the detail of places within functions */
  bool takes_by;
} formats[] = {{"top", write_top, true, 0, false},
               {"tree", write_tree, false, 0, true},
               {"columns", write_columns, false, 0, true},
               {"folded", write_folded, false, 0, false},
               {"pprof", write_pprof, false, PLACE_LINES | PLACE_CODE, false},
               {"speedscope", write_speedscope, false, 0, false},
               {"callgrind", write_callgrind, false, PLACE_LINES, false},
               {"perf-script", write_perf_script, false, PLACE_CODE, false}};

/* Answers about RANGE, after discarding the output of an earlier attempt. */
static int answer_range(struct request *request, const struct selection *selection, size_t format,
                        const struct query_range *range) {
  struct query_source source = query_answer_source(request);
  struct view_tree tree = {0};
  buf_clear(&request->answer.body);
  request->answer.body.is_full = false;
  int error = query_tree(&source, range, &request->arena, &tree);
  if (error == 0 && cutoff_is_past(range->cutoff))
    error = -ETIMEDOUT; /* a large tree takes long to write */
  return error != 0 ? error : formats[format].write(request, &tree, selection);
}

/* If addresses exceed the limit of a tree or an answer, retries with lines alone, which are fewer,
   in the remaining time. */
static void answer_selection(struct request *request, const struct selection *selection,
                             size_t format) {
  struct query_range range = query_answer_range(request, selection);
  range.places = formats[format].places;
  range.without_intervals = !formats[format].with_intervals;
  range.by = parameters_find(&request->parameters, "by");
  int error = answer_range(request, selection, format, &range);
  if (error == -EOVERFLOW && (range.places & PLACE_CODE) != 0) {
    range.places &= ~(unsigned)PLACE_CODE;
    error = answer_range(request, selection, format, &range);
  }
  query_answer_end(request, error);
}

void api_profile(struct request *request) {
  const char *name = parameters_find(&request->parameters, "format");
  size_t format = 0, count = sizeof formats / sizeof *formats;
  if (name && strcmp(name, "json") == 0) name = NULL; /* as in `fleetprof report` */
  while (name && format < count && strcmp(formats[format].name, name) != 0) format++;
  if (format == count) {
    answer_problem(&request->answer, 400, "format",
                   "format: \"%.64s\" is not one of top, json, tree, columns, folded, pprof, "
                   "speedscope, callgrind, perf-script",
                   name);
    return;
  }
  if (parameters_find(&request->parameters, "by") != NULL && !formats[format].takes_by) {
    answer_problem(&request->answer, 400, "by", "by: only the formats tree and columns take it");
    return;
  }
  const char *order = parameters_find(&request->parameters, "order");
  if (order != NULL && formats[format].write != write_top) {
    answer_problem(&request->answer, 400, "order", "order: only the format top takes it");
    return;
  }
  if (order != NULL && strcmp(order, "self") != 0 && strcmp(order, "total") != 0) {
    answer_problem(&request->answer, 400, "order", "order: \"%.64s\" is not self or total", order);
    return;
  }
  struct selection selection;
  if (query_answer_select(request, &selection) != 0) return;
  answer_selection(request, &selection, format);
  selection_fini(&selection);
}
