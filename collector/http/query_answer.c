/* SPDX-License-Identifier: Apache-2.0 */
/* Common code of routes that query the store, so that equal failures give equal messages. */
#include "query_answer.h"

#include "common/clock.h"
#include "common/meter.h"
#include "metrics.h"
#include "query/near_names.h"
#include "router.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
  NAME_BYTES_SHOWN = 200,
  MONITOR_PART = 8, /* 1/8 of a query's limit, since both threads can allocate at once */
};

struct query_source query_answer_source(const struct request *request) {
  const struct http_parts *parts = &request->service->parts;
  return (struct query_source){parts->store, parts->symbolizer};
}

const struct cutoff *query_answer_cutoff(struct request *request) {
  request->cutoff =
      (struct cutoff){.is_abandoned = &request->is_abandoned,
                      .deadline_ns = request->started_ns + QUERY_SECONDS_MAX * NS_PER_SECOND};
  return &request->cutoff;
}

struct query_range query_answer_range(struct request *request, const struct selection *selection) {
  return (struct query_range){.selector = selection->selector,
                              .from_ms = selection->from_ms,
                              .to_ms = selection->to_ms,
                              .types = selection->types,
                              .cutoff = query_answer_cutoff(request)};
}

int query_answer_select(struct request *request, struct selection *ret) {
  struct selection_fault fault;
  int error = selection_parse(&request->parameters, clock_judged_ns(), ret, &fault);
  if (error != 0) answer_problem(&request->answer, 400, fault.parameter, "%s", fault.detail);
  return error;
}

static size_t find_limit(const struct request *request) {
  size_t limit = atomic_load_explicit(&request->service->query_bytes, memory_order_relaxed);
  return request->route->lane == LANE_MONITOR ? limit / MONITOR_PART + 1 : limit;
}

void query_answer_no_memory(struct request *request, const char *advice) {
  size_t limit = find_limit(request);
  answer_problem(&request->answer, 422, NULL,
                 "limit memory: the query takes more than the %zu MiB that one may have: %s",
                 limit >> 20, advice);
}

static void make(void *context) {
  struct request *request = context;
  request->route->answer(request);
  int status = request->answer.status;
  if (meter_was_refused() && status != 422 && status < 500)
    query_answer_no_memory(request, "narrow match or the time range");
  if (request->wants_gzip) answer_compress(&request->answer, query_answer_cutoff(request));
}

size_t query_answer_make(struct request *request) {
  return metrics_meter(request->service->metrics, find_limit(request), make, request);
}

void query_answer_end(struct request *request, int error) {
  if (error == 0) return;
  if (error == -ENOMEM)
    query_answer_no_memory(request, "narrow match or the time range");
  else if (error == -EOVERFLOW)
    answer_problem(&request->answer, 422, NULL,
                   "limit memory: the selection holds too many different stacks for one answer: "
                   "narrow match or the time range");
  else if (error == -E2BIG)
    answer_problem(&request->answer, 422, NULL,
                   "limit rows: the selection is made of more than %llu stored rows: narrow match "
                   "or the time range",
                   QUERY_ROWS_MAX);
  else if (error == -ETIMEDOUT)
    answer_problem(&request->answer, 504, NULL,
                   "limit time: the query was given up at its time limit of %d seconds, waiting "
                   "included: narrow match or the time range",
                   QUERY_SECONDS_MAX);
  else
    answer_store_problem(&request->answer, error);
}

void query_answer_no_label(struct request *request, const char *by, const char *nearest) {
  bool is_near = *nearest != '\0';
  answer_problem(&request->answer, 400, "by",
                 "by: no sample of this selection has a label \"%.64s\"%s%.64s%s: /api/v1/labels "
                 "lists those there are, and there are function and module",
                 by, is_near ? "; the nearest is \"" : "", nearest, is_near ? "\"" : "");
}

void query_answer_no_function(struct request *request, const char *function,
                              const char *const *near, unsigned count) {
  char list[NEAR_NAMES_MAX * (NAME_BYTES_SHOWN + 8)] = "";
  size_t len = 0;
  for (unsigned i = 0; i < count && i < NEAR_NAMES_MAX; i++)
    len += (size_t)snprintf(list + len, sizeof list - len, "%s\"%.*s\"", i > 0 ? ", " : "",
                            NAME_BYTES_SHOWN, near[i]);
  answer_problem(&request->answer, 404, "function",
                 "function: nothing sampled here is \"%.*s\"%s%s", NAME_BYTES_SHOWN, function,
                 len > 0 ? "; the nearest: " : "", list);
}
