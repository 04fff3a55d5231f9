/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two selections.

   Each side has a selector and a range; match, from and to are the defaults of both. If one
   selector is compared with itself and side a has no times, a is the range of the same length just
   before b. If a has only a start, it ends where b begins.

   A verdict is about these boards, with stretches of time as sampling units, or about boards like
   these, with boards as units. A selector that names boards implies the former, as do fewer boards
   than DIFF_FLEET_BOARDS_MIN, which are too few to generalize from. */
#include "api.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/table.h"
#include "query/load.h"
#include "query/selector.h"
#include "query_answer.h"
#include "request.h"
#include "selection.h"
#include "view/diff_json.h"
#include "view/diff_units.h"
#include "view/table_json.h"

#include <errno.h>
#include <string.h>

enum { DIFF_FLEET_BOARDS_MIN = 5 };

static const uint64_t ms_per_hour = 3600 * 1000;

struct side {
  struct selection selection;
  struct view_tree tree;
  double boards; /* with samples; 0: not counted yet */
};

/* The parameters other than the two selections. */
struct question {
  struct view_diff_options options;
  bool is_of_these, is_of_fleet; /* both false: the selections decide */
  bool has_units;                /* the user specified them */
  uint64_t now_ms;
};

static bool has(const struct request *request, const char *name) {
  return parameters_find(&request->parameters, name) != NULL;
}

static const char *selector_of(const struct request *request, const char *side) {
  const char *text = parameters_find(&request->parameters, side);
  if (text == NULL) text = parameters_find(&request->parameters, "match");
  return text != NULL ? text : "";
}

/* Places A right before B if both have the same selector and the request gives no times for A. */
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

static int build_tree(struct request *request, struct side *side, bool is_of_these) {
  const struct query_source source = query_answer_source(request);
  struct query_range range = query_answer_range(request, &side->selection);
  range.is_of_these = is_of_these;
  return query_tree(&source, &range, &request->arena, &side->tree);
}

/* Counts the boards in each hashed group, because these groups differ in size. */
static void count_in_groups(const struct query_load *load, struct groups *groups) {
  for (uint32_t i = 0; i < load->count && groups->kind == GROUPS_HASHED; i++) {
    uint64_t id = table_hash(load->rows[i].name, strlen(load->rows[i].name), 0) % groups->modulus;
    for (unsigned j = 0; j < groups->count; j++)
      groups->group[j].boards += groups->group[j].id == id;
  }
}

static int count_boards(struct request *request, struct side *side) {
  const struct query_source source = query_answer_source(request);
  struct query_range range = query_answer_range(request, &side->selection);
  struct groups *groups = &side->tree.groups;
  struct query_load load;
  if (groups->kind == GROUPS_BOARDS) side->boards = groups->count;
  if (groups->kind == GROUPS_TIMES && !groups->is_of_times) side->boards = 1;
  if (side->tree.total_weight == 0 || side->boards > 0) return 0;
  range.without_intervals = true;
  int error = query_load(&source, &range, "board", &request->arena, &load);
  if (error != 0) return error;
  side->boards = load.count;
  count_in_groups(&load, groups);
  return 0;
}

static bool names_boards(const struct side *side) {
  return side->selection.selector != NULL && selector_names_boards(side->selection.selector);
}

/* Builds the trees of A and B with the sampling units of QUESTION, and counts boards. */
static int build_trees(struct request *request, const struct question *question, struct side *a,
                       struct side *b) {
  struct side *sides[] = {a, b};
  bool is_of_these =
      !question->is_of_fleet && (question->is_of_these || names_boards(a) || names_boards(b));
  for (unsigned i = 0; i < 2; i++) {
    int error = build_tree(request, sides[i], is_of_these);
    if (error == 0) error = count_boards(request, sides[i]);
    if (error != 0) return error;
  }
  bool is_fleet = a->boards >= DIFF_FLEET_BOARDS_MIN && b->boards >= DIFF_FLEET_BOARDS_MIN;
  if (is_of_these || is_fleet || question->is_of_fleet) return 0;
  for (unsigned i = 0; i < 2; i++) { /* a single board already has stretches of time */
    int error = sides[i]->boards > 1 ? build_tree(request, sides[i], true) : 0;
    if (error != 0) return error;
  }
  return 0;
}

/* Returns boards times the hours for which the selection has data, from its first window in the
   range to its last. So a release that was rolled out halfway through is not diluted. */
static double board_hours(const struct side *side, uint64_t now_ms) {
  const struct selection *range = &side->selection;
  const struct groups *groups = &side->tree.groups;
  uint64_t from_ms = groups->first_ms > range->from_ms ? groups->first_ms : range->from_ms;
  uint64_t to_ms = range->to_ms < now_ms ? range->to_ms : now_ms;
  if (groups->last_ms < to_ms) to_ms = groups->last_ms;
  uint64_t ms = to_ms > from_ms ? to_ms - from_ms : 1;
  return (side->boards > 0 ? side->boards : 1) * (double)ms / (double)ms_per_hour;
}

static void write_side(struct json *json, const char *key, const struct side *side) {
  json_key(json, key);
  json_open(json, '{');
  table_json_summary(json, &side->tree, view_basis(&side->tree),
                     side->selection.from_ms * NS_PER_MS, side->selection.to_ms * NS_PER_MS);
  json_close(json, '}');
}

static int write_answer(struct request *request, const struct question *question,
                        const struct side *a, const struct side *b) {
  struct view_diff_options options = question->options;
  struct view_diff diff;
  struct json json;
  if (!question->has_units)
    options.units = (struct view_units){"board-hour", board_hours(a, question->now_ms),
                                        board_hours(b, question->now_ms)};
  int error = view_diff(&a->tree, &b->tree, &options, &request->arena, &diff);
  if (error != 0) return error;
  answer_begin_json(&request->answer, &json);
  write_side(&json, "a", a);
  write_side(&json, "b", b);
  diff_json_write(&json, &diff, a->selection.limit);
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
    answer_store_problem(&request->answer, error);
}

/* Sets RET to whether the parameter NAME is ONE rather than OTHER. Returns 0, or -EINVAL with the
   problem as REQUEST's answer. */
static int read_choice(struct request *request, const char *name, const char *one,
                       const char *other, bool *ret) {
  const char *text = parameters_find(&request->parameters, name);
  if (text == NULL) return 0;
  *ret = strcmp(text, one) == 0;
  if (*ret || strcmp(text, other) == 0) return 0;
  answer_problem(&request->answer, 400, name, "%s: \"%.64s\" is not %s or %s", name, text, one,
                 other);
  return -EINVAL;
}

/* Reads the user's unit. Returns 0, or -EINVAL with the problem as REQUEST's answer. */
static int read_units(struct request *request, struct question *ret) {
  static const char *const names[] = {"unit", "a_units", "b_units"};
  const char *texts[DIFF_UNITS_PARTS];
  enum diff_units_part part;
  for (unsigned i = 0; i < DIFF_UNITS_PARTS; i++) {
    texts[i] = parameters_find(&request->parameters, names[i]);
    ret->has_units |= texts[i] != NULL;
  }
  const char *fault = diff_units_parse(texts, &ret->options.units, &part);
  if (fault == NULL) return 0;
  if (texts[part] != NULL)
    answer_problem(&request->answer, 400, names[part], "%s: \"%.64s\" %s", names[part], texts[part],
                   fault);
  else
    answer_problem(&request->answer, 400, names[part], "%s: %s", names[part], fault);
  return -EINVAL;
}

static int read_question(struct request *request, struct question *ret) {
  bool is_cpu = false, is_self = false, is_these = false;
  int error = read_choice(request, "measure", "cpu", "share", &is_cpu);
  if (error == 0) error = read_choice(request, "of", "self", "total", &is_self);
  if (error == 0) error = read_choice(request, "scope", "these", "fleet", &is_these);
  if (error == 0) error = read_units(request, ret);
  if (!has(request, "measure")) is_cpu = ret->has_units; /* a unit implies CPU time per unit */
  ret->options.measure = is_cpu ? VIEW_CPU : VIEW_SHARES;
  ret->options.of = is_self ? VIEW_SELF : VIEW_TOTAL;
  ret->is_of_these = is_these;
  ret->is_of_fleet = has(request, "scope") && !is_these;
  return error;
}

/* Reads both selections. Returns 0, or -EINVAL with the problem as REQUEST's answer. */
static int read_sides(struct request *request, uint64_t now_ns, struct side *a, struct side *b) {
  struct selection_fault fault;
  int error = selection_parse_side(&request->parameters, "a", now_ns, &a->selection, &fault);
  if (error == 0)
    error = selection_parse_side(&request->parameters, "b", now_ns, &b->selection, &fault);
  if (error != 0) answer_problem(&request->answer, 400, fault.parameter, "%s", fault.detail);
  if (error == 0) place_before(request, &a->selection, &b->selection);
  return error;
}

/* Rejects scope=fleet if both sides have one board, since differences between boards need two.
   Returns 0, or -EINVAL with the problem as REQUEST's answer. */
static int check_scope(struct request *request, const struct question *question,
                       const struct side *a, const struct side *b) {
  bool has_both = a->tree.total_weight > 0 && b->tree.total_weight > 0;
  if (!question->is_of_fleet || !has_both || a->boards > 1 || b->boards > 1) return 0;
  answer_problem(&request->answer, 422, "scope",
                 "scope: fleet: each side has one board, and how boards differ takes several on a "
                 "side: select more, or ask for scope=these");
  return -EINVAL;
}

void api_diff(struct request *request) {
  struct side a = {.selection = {0}}, b = {.selection = {0}};
  uint64_t now_ns = clock_judged_ns();
  struct question question = {.now_ms = now_ns / NS_PER_MS};
  if (read_sides(request, now_ns, &a, &b) == 0 && read_question(request, &question) == 0) {
    int error = build_trees(request, &question, &a, &b);
    bool is_refused = error == 0 && check_scope(request, &question, &a, &b) != 0;
    if (error == 0 && !is_refused) error = write_answer(request, &question, &a, &b);
    if (error != 0) answer_error(request, error);
  }
  selection_fini(&a.selection);
  selection_fini(&b.selection);
}
