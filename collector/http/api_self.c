/* SPDX-License-Identifier: Apache-2.0 */
/* The collector's own state: alive, ready, counters, description, page. Alive and ready are
   answered on the loop, so that they are right while the query thread is busy. Ready means that a
   query would be accepted now. Degraded means the same, but with some data missing or not
   written. */
#include "api.h"

#include "assets.h"
#include "board_metrics.h"
#include "common/clock.h"
#include "common/json.h"
#include "identity/access_loss.h"
#include "metrics.h"
#include "names/debug_store.h"
#include "open_metrics.h"
#include "openapi.h"
#include "request.h"
#include "routes.h"
#include "store/store.h"

#include <stdio.h>

enum { REASON_BYTES = 512, SENTENCE_BYTES = 256 };

#define NS_PER_DAY (24 * 3600 * NS_PER_SECOND)

void api_healthz(struct request *request) {
  request->answer.type = "text/plain; charset=utf-8";
  buf_append_string(&request->answer.body, "ok\n");
}

struct reasons {
  struct json *json; /* NULL: only counts them */
  unsigned count;
};

static void add_reason(void *context, const char *what, const char *why) {
  struct reasons *reasons = context;
  char text[REASON_BYTES];
  reasons->count++;
  if (reasons->json == NULL) return;
  snprintf(text, sizeof text, "%s %s", what, why);
  json_string(reasons->json, text);
}

static void add_clock(struct reasons *reasons) {
  int64_t off_ns = clock_overruled_by_ns();
  char text[SENTENCE_BYTES], ours[32];
  uint64_t wall_ns = clock_walltime_ns();
  clock_print_time(wall_ns, ours);
  if (off_ns != 0) {
    snprintf(text, sizeof text,
             "of this machine says %s, and boards agree on a time %lld s %s: data is placed by "
             "theirs; set it",
             ours, (long long)(off_ns < 0 ? -off_ns : off_ns) / (long long)NS_PER_SECOND,
             off_ns < 0 ? "earlier" : "later");
    add_reason(reasons, "the clock", text);
  } else if (wall_ns < CLOCK_PLAUSIBLE_NS) {
    snprintf(
        text, sizeof text,
        "of this machine says %s, which cannot be: data is placed by its board's clock; set it",
        ours);
    add_reason(reasons, "the clock", text);
  }
}

/* Adds the reasons why the collector takes no queries, or runs degraded. */
static void add_reasons(const struct request *request, struct reasons *reasons) {
  const struct http_parts *parts = &request->service->parts;
  const char *fault = access_fault(parts->access);
  if (jobs_is_full(request->service->queries))
    add_reason(reasons, "the queue", "of queries is full");
  const char *names = parts->debug != NULL ? debug_store_loss(parts->debug) : NULL;
  if (fault != NULL) add_reason(reasons, "access.db", fault);
  if (names != NULL) add_reason(reasons, "debug.db", names);
  store_troubles(parts->store, add_reason, reasons);
  add_clock(reasons);
}

/* Facts that need no action. */
static void add_notes(const struct request *request, struct reasons *notes) {
  struct store_misdated misdated = store_misdated(request->service->parts.store);
  char text[SENTENCE_BYTES], first[32], last[32];
  if (misdated.count == 0) return;
  clock_print_time(misdated.first * NS_PER_DAY, first);
  clock_print_time(misdated.last * NS_PER_DAY, last);
  snprintf(
      text, sizeof text,
      "from %.10s to %.10s cannot be: a clock was wrong when they were stored; they are served "
      "under these dates, and kept until --max-bytes wants room",
      first, last);
  snprintf(first, sizeof first, "%u days", misdated.count);
  add_reason(notes, first, text);
}

void api_readyz(struct request *request) {
  struct json json;
  struct reasons counted = {NULL, 0}, written = {&json, 0};
  bool is_full = jobs_is_full(request->service->queries);
  add_reasons(request, &counted);
  answer_begin_json(&request->answer, &json);
  json_key_string(&json, "status",
                  is_full             ? "not ready"
                  : counted.count > 0 ? "degraded"
                                      : "ready");
  json_key(&json, "reasons");
  json_open(&json, '[');
  add_reasons(request, &written);
  json_close(&json, ']');
  json_key(&json, "notes");
  json_open(&json, '[');
  add_notes(request, &written);
  json_close(&json, ']');
  answer_end_json(&request->answer, &json);
  if (is_full) request->answer.status = 503;
}

void api_metrics(struct request *request) {
  struct service *service = request->service;
  struct answer *answer = &request->answer;
  struct buf text = {0};
  metrics_print(service->metrics, &text);
  board_metrics_print(service->parts.store, &text);
  kept_metrics_print(&service->kept_metrics, &text);
  if (service->parts.metrics) service->parts.metrics(service->parts.metrics_context, &text);
  answer->type =
      request->wants_open_metrics ? OPEN_METRICS_TYPE : "text/plain; version=0.0.4; charset=utf-8";
  if (request->wants_open_metrics)
    open_metrics_convert(&text, &answer->body);
  else
    buf_append(&answer->body, text.data, text.len);
  if (text.failed || answer->body.failed) answer_problem(answer, 503, NULL, "not enough memory");
  buf_fini(&text);
}

void api_openapi(struct request *request) {
  struct json json;
  answer_begin_json(&request->answer, &json);
  openapi_write(&json, routes, routes_count);
  answer_end_json(&request->answer, &json);
}

void api_asset(struct request *request) {
  const struct asset *asset = assets_find(request->route->path);
  struct answer *answer = &request->answer;
  if (asset == NULL) {
    answer_problem(answer, 404, NULL, "this build has no page");
    return;
  }
  answer->type = asset->type;
  answer->may_be_kept = true;
  answer_add_field(answer, "ETag", asset->etag);
  if (request->if_none_match && strstr(request->if_none_match, asset->etag))
    answer->status = 304;
  else
    buf_append(&answer->body, asset->bytes, asset->len);
}
