/* SPDX-License-Identifier: Apache-2.0 */
/* Boards and their accounting, both from one walk over the store's boards. A board's counts are
   since its first sample, not of a time range, because only then do they close:

     produced = stored + sum of dropped, where samples made but not yet delivered are listed under
     dropped as "pending".

   The total is summed over the selected boards in the same walk. `limit` cuts the listed rows only.

   Boards are selected by their own labels. A label that only samples carry, like service, is
   refused rather than treated as empty, because "no boards" would be a wrong answer. */
#include "api.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/sums.h"
#include "query/selector.h"
#include "quota/quota.h"
#include "request.h"
#include "selection.h"
#include "store/store_read.h"

#include <errno.h>
#include <math.h>

struct books {
  uint64_t produced, stored, pending;
  uint64_t dropped[LOSS_REASON_COUNT];
};

struct board_walk {
  const struct selection *selection;
  const struct http_parts *parts;
  struct json json;
  struct books sum;
  uint32_t count;
};

static void write_reasons(struct json *json, const struct books *books) {
  json_open(json, '{');
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    if (books->dropped[i]) json_key_uint(json, loss_name(i), books->dropped[i]);
  if (books->pending) json_key_uint(json, "pending", books->pending);
  json_close(json, '}');
}

static struct books books_of(const struct store_board *board) {
  struct books books = {
      .produced = board->produced, .stored = board->stored, .pending = board->pending};
  memcpy(books.dropped, board->dropped, sizeof books.dropped);
  return books;
}

static bool is_selected(const struct board_walk *walk, const struct store_board *board) {
  const struct selector *selector = walk->selection->selector;
  return selector == NULL || selector_matches_board(selector, board);
}

static bool is_within_limit(const struct board_walk *walk) {
  return !walk->selection->has_limit || walk->count < walk->selection->limit;
}

static bool was_seen(const struct selection *selection, const struct store_board *board) {
  return !selection->has_range ||
         (board->first_seen_ms <= selection->to_ms && board->last_seen_ms >= selection->from_ms);
}

static void write_time(struct json *json, const char *key, uint64_t time_ms) {
  char text[32];
  clock_print_time(time_ms * NS_PER_MS, text);
  json_key_string(json, key, time_ms ? text : NULL);
}

/* Writes VALUE, or null if it is unknown. */
static void write_figure(struct json *json, const char *key, double value, bool is_known) {
  json_key(json, key);
  json_double(json, is_known ? value : NAN);
}

static void write_cost(struct json *json, const struct effort *effort) {
  bool is_timed = effort->handler_p50_ns > 0, is_metered = effort->added_cpu_ppm > 0;
  json_key(json, "cost");
  json_open(json, '{');
  write_figure(json, "handler_ns_p50", (double)effort->handler_p50_ns, is_timed);
  write_figure(json, "handler_ns_p99", (double)effort->handler_p99_ns, is_timed);
  write_figure(json, "sample_ns", (double)effort->sample_ns, effort->sample_ns > 0);
  write_figure(json, "daemon_cpu", effort->daemon_cpu_ppm / 1e6, is_metered);
  write_figure(json, "added_cpu", effort->added_cpu_ppm / 1e6, is_metered);
  json_key_uint(json, "bytes_day", effort->bytes_day);
  json_close(json, '}');
}

static void write_budget(struct json *json, const struct effort *effort) {
  json_key(json, "budget");
  json_open(json, '{');
  write_figure(json, "cpu", effort->budget_cpu_ppm / 1e6, effort->budget_cpu_ppm > 0);
  write_figure(json, "bytes_day", (double)effort->budget_bytes_day, effort->budget_bytes_day > 0);
  json_key_string(json, "state", effort->budget_state);
  json_close(json, '}');
}

/* Writes nulls for an older daemon, which does not report its effort. Its batches still report the
   requested rate. */
static void write_effort(struct json *json, const struct effort *effort) {
  bool is_said = effort->budget_state[0] != '\0';
  write_figure(json, "asked_hz", effort->asked_mhz / 1000.0, effort->asked_mhz > 0);
  json_key_string(json, "rate_reason", is_said ? effort->rate_reason : NULL);
  if (is_said) {
    write_cost(json, effort);
    write_budget(json, effort);
    return;
  }
  json_key_string(json, "cost", NULL);
  json_key_string(json, "budget", NULL);
}

/* Writes the daemon's own sums since its start; null if it does not report them. */
static void write_stacks(struct json *json, const struct effort *effort) {
  double total = 0;
  for (unsigned i = 0; i < STACK_END_COUNT; i++) total += (double)effort->stacks_ns[i];
  json_key(json, "stacks");
  if (!(total > 0)) {
    json_string(json, NULL);
    return;
  }
  json_open(json, '{');
  for (unsigned i = 0; i < STACK_END_COUNT; i++) {
    json_key(json, stack_end_name((enum stack_end)i));
    json_double(json, (double)effort->stacks_ns[i] / total);
  }
  json_close(json, '}');
}

/* Writes each quota's use in 24 hours, its limit and its rejections. A null limit means no limit;
   bytes are not counted then. */
static void write_quotas(struct json *json, struct quotas *quotas, const char *board) {
  struct quota_state state;
  quotas_state(quotas, board, clock_monotonic_ns(), &state);
  json_key(json, "quotas");
  json_open(json, '{');
  for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
    json_key(json, quota_name(quota));
    json_open(json, '{');
    json_key_uint(json, "used", state.used[quota]);
    write_figure(json, "limit", (double)state.limit[quota], state.limit[quota] != 0);
    json_key_uint(json, "refused", state.refused[quota]);
    json_key_uint(json, "delayed", state.delayed[quota]);
    json_close(json, '}');
  }
  json_close(json, '}');
}

static uint64_t revoked_ms(const struct http_parts *parts, const char *board) {
  return parts->revoked_s != NULL ? (uint64_t)parts->revoked_s(parts->revoked_context, board) * 1000
                                  : 0;
}

/* Writes permanent rejections other than by quota; null if there are none. */
static void write_refused(struct json *json, const struct store_board *board) {
  json_key(json, "refused");
  if (board->refused == 0) {
    json_string(json, NULL);
    return;
  }
  json_open(json, '{');
  json_key_uint(json, "times", board->refused);
  write_time(json, "last", board->refused_ms);
  json_key_string(json, "why", board->refused_why);
  json_close(json, '}');
}

/* Writes nulls if the board does not report its CPUs. */
static void write_cpus(struct json *json, const struct store_board *board) {
  write_figure(json, "cpus", board->cpus, board->cpus > 0);
  write_figure(json, "cpus_most", board->cpus_most, board->cpus_most > 0);
  write_time(json, "cpus_changed", board->cpus_changed_ms);
}

static void write_board(struct board_walk *walk, const struct store_board *board) {
  struct json *json = &walk->json;
  struct books books = books_of(board);
  json_open(json, '{');
  json_key_string(json, "name", board->name);
  json_key(json, "labels");
  json_open(json, '{');
  for (uint32_t i = 0; i < board->label_count; i++)
    json_key_string(json, board->labels[i].name, board->labels[i].value);
  json_close(json, '}');
  json_key_string(json, "arch", board->arch);
  json_key_string(json, "kernel", board->kernel);
  json_key(json, "versions");
  json_open(json, '{');
  json_key_string(json, "fleetprofd", board->version);
  json_close(json, '}');
  write_time(json, "first_seen", board->first_seen_ms);
  write_time(json, "last_seen", board->last_seen_ms);
  json_key_string(json, "sampler", board->sampler);
  json_key(json, "achieved_hz");
  json_double(json, (double)board->achieved_mhz / 1000);
  write_effort(json, &board->effort);
  json_key_string(json, "clock", board->clock);
  json_key(json, "loss");
  write_reasons(json, &books);
  write_refused(json, board);
  write_stacks(json, &board->effort);
  if (walk->parts->quotas != NULL) write_quotas(json, walk->parts->quotas, board->name);
  write_cpus(json, board);
  write_time(json, "revoked", revoked_ms(walk->parts, board->name));
  json_close(json, '}');
}

static int on_board(void *context, const struct store_board *board) {
  struct board_walk *walk = context;
  bool is_wanted = is_selected(walk, board) && was_seen(walk->selection, board);
  if (!is_wanted || !is_within_limit(walk)) return 0;
  walk->count++;
  write_board(walk, board);
  return 0;
}

static void write_books(struct json *json, const struct books *books) {
  json_key_wide(json, "produced", books->produced);
  json_key_wide(json, "stored", books->stored);
  json_key(json, "dropped");
  write_reasons(json, books);
}

static int on_board_books(void *context, const struct store_board *board) {
  struct board_walk *walk = context;
  if (!is_selected(walk, board)) return 0;
  struct books books = books_of(board);
  walk->sum.produced = sum_of(walk->sum.produced, books.produced);
  walk->sum.stored = sum_of(walk->sum.stored, books.stored);
  walk->sum.pending = sum_of(walk->sum.pending, books.pending);
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    walk->sum.dropped[i] = sum_of(walk->sum.dropped[i], books.dropped[i]);
  if (!is_within_limit(walk)) return 0;
  walk->count++;
  json_open(&walk->json, '{');
  json_key_string(&walk->json, "board", board->name);
  write_books(&walk->json, &books);
  json_close(&walk->json, '}');
  return 0;
}

/* Reads the board selection of REQUEST. Returns 0, or -EINVAL with the problem answered. */
static int parse_boards(struct request *request, struct selection *ret) {
  struct selection_fault fault;
  if (selection_parse(&request->parameters, clock_judged_ns(), ret, &fault) != 0) {
    answer_problem(&request->answer, 400, fault.parameter, "%s", fault.detail);
    return -EINVAL;
  }
  const char *label = ret->selector ? selector_sample_label(ret->selector) : NULL;
  if (label == NULL) return 0;
  answer_problem(&request->answer, 400, "match",
                 "match: %s is a label of samples; boards have board, arch, kernel and their own",
                 label);
  selection_fini(ret);
  return -EINVAL;
}

/* Answers with an array "boards", one element from ON for each board. IS_BOOKS adds the sum. */
static void answer_boards(struct request *request,
                          int (*on)(void *context, const struct store_board *board),
                          bool is_books) {
  struct selection selection;
  if (parse_boards(request, &selection) != 0) return;
  struct board_walk walk = {.selection = &selection, .parts = &request->service->parts};
  answer_begin_json(&request->answer, &walk.json);
  json_key(&walk.json, "boards");
  json_open(&walk.json, '[');
  int error = store_boards(request->service->parts.store, on, &walk);
  json_close(&walk.json, ']');
  if (is_books) write_books(&walk.json, &walk.sum);
  selection_fini(&selection);
  if (error)
    answer_store_problem(&request->answer, error);
  else
    answer_end_json(&request->answer, &walk.json);
}

void api_boards(struct request *request) {
  answer_boards(request, on_board, false);
}

void api_loss(struct request *request) {
  answer_boards(request, on_board_books, true);
}
