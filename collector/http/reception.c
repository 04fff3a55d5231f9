/* SPDX-License-Identifier: Apache-2.0 */
/* From a head to an answer: finds the route of a request, checks access, and chooses the thread
   that makes the answer.

     connection --head--> route, gate, parameters --> handler on the loop      --> client_answer
                                |   ^             \-> a worker thread --------/
                                +---+ looks up a token that is not cached

   All checks precede the body, so an upload without a valid token costs only a head. If a request's
   connection closes, a queued job is removed at once. A running job is flagged (is_abandoned),
   stops at its next check, and is discarded when it returns. */
#include "reception.h"

#include "api.h"
#include "client.h"
#include "common/clock.h"
#include "gate.h"
#include "head_guard.h"
#include "metrics.h"
#include "query_answer.h"
#include "routes.h"
#include "store/store.h"
#include "store/store_read.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  BODY_BYTES_MAX = 64 << 20,
  PATH_BYTES_SHOWN = 128,
};
#define UNSENT_BYTES_MAX ((size_t)256 << 20)

static void request_free(struct request *request) {
  if (request == NULL) return;
  answer_fini(&request->answer);
  arena_fini(&request->arena);
  free(request->piece);
  free(request);
}

static bool is_upload(const struct request *request) {
  return strcmp(request->route->method, "PUT") == 0;
}

static void audit(struct service *service, const struct request *request, int status,
                  const char *why) {
  access_audit_denial(service->parts.access, request->visitor, "denied %d %s %s: %s", status,
                      request->route->method, request->route->path, why);
}

/* Writes a change by HTTP to the audit log. Its client has a token, so there is no flood. Runs on a
   worker thread, since the log is written at once. */
static void audit_change(struct service *service, const struct request *request) {
  int status = request->answer.status ? request->answer.status : 200;
  if (status < 300)
    access_audit(service->parts.access, request->visitor, "done %d %s %s: %.80s", status,
                 request->route->method, request->route->path, request->argument);
}

/* Sends REQUEST's answer if its client is still connected, and frees REQUEST. */
static void finish(struct service *service, struct request *request) {
  int status = request->answer.status ? request->answer.status : 200;
  if (request->client) {
    metrics_count(service->metrics, request->route, status);
    client_set_request(request->client, NULL);
    client_answer(request->client, &request->answer, request->is_head);
  }
  request_free(request);
}

static bool is_question(const struct request *request) {
  return request->route->lane == LANE_QUERY || request->route->lane == LANE_MONITOR;
}

/* Notes that no worker has REQUEST any more. */
static void leave(struct request *request, bool was_run) {
  bool is_query = request->jobs == request->service->queries;
  if (is_query && !was_run) metrics_query_left(request->service->metrics);
  request->jobs = NULL;
}

/* Answers REQUEST with the reason END why it was not run. */
static void refuse_unrun(struct request *request, enum job_end end) {
  if (end == JOB_STOPPED) {
    answer_problem(&request->answer, 503, NULL, "the collector is stopping");
    return;
  }
  answer_problem(&request->answer, 503, NULL,
                 "all places are taken, and you have more of them than others: send fewer requests "
                 "at once");
  answer_add_field(&request->answer, "Retry-After", "2");
}

static void on_job_done(struct job *job, enum job_end end) {
  struct request *request = (struct request *)job;
  struct service *service = request->service;
  bool was_run = end == JOB_RUN;
  leave(request, was_run);
  if (is_question(request))
    metrics_observe(service->metrics, clock_monotonic_ns() - request->started_ns);
  if (!was_run) refuse_unrun(request, end);
  if (was_run && request->wants_more && request->client) {
    request->body_done += request->piece_len;
    client_read_body(request->client);
    return;
  }
  if (was_run && request->is_audited) {
    char why[160];
    snprintf(why, sizeof why, "another file of build-id %s is here", request->argument);
    audit(service, request, request->answer.status, why);
  }
  if (client_list_unsent_bytes(&service->clients) + request->answer.body.len > UNSENT_BYTES_MAX) {
    answer_problem(&request->answer, 503, NULL, "too many long answers are being sent");
    answer_add_field(&request->answer, "Retry-After", "5");
  }
  finish(service, request);
}

/* Makes the answer: of a query or a monitoring request within its memory limit, of other routes
   without one. */
static void make_answer(struct request *request) {
  if (is_question(request)) {
    query_answer_make(request);
    return;
  }
  request->route->answer(request);
  if (request->wants_gzip) answer_compress(&request->answer, NULL);
}

/* On a worker thread. */
static void run_job(struct job *job) {
  struct request *request = (struct request *)job;
  const struct store *store = request->service->parts.store;
  uint64_t stale_reads = store_stale_reads(store), late_reads = store_late_reads(store);
  uint64_t full_reads = store_full_reads(store), incomplete_reads = store_incomplete_reads(store);
  request->wants_more = false;
  if (request->route->lane == LANE_QUERY) metrics_query_began(request->service->metrics);
  make_answer(request);
  if (request->route->lane == LANE_QUERY) metrics_query_ended(request->service->metrics);
  if (is_upload(request) && !request->wants_more) audit_change(request->service, request);
  /* Only the query thread queries, so it alone can attribute a change of these counters to its
     request. */
  if (request->route->lane != LANE_QUERY) return;
  if (store_stale_reads(store) != stale_reads)
    answer_add_field(&request->answer, "Fleetprof-Stale",
                     store_late_reads(store) != late_reads   ? "a backlog settles"
                     : store_full_reads(store) != full_reads ? "the disk is full"
                                                             : "the disk fails");
  if (store_incomplete_reads(store) != incomplete_reads)
    answer_add_field(&request->answer, "Fleetprof-Incomplete",
                     "files of that time were lost: /readyz names them");
}

/* Returns whether JOBS took REQUEST. */
static bool hand_over(struct request *request, struct jobs *jobs) {
  request->jobs = jobs;
  if (jobs == request->service->queries) metrics_query_queued(request->service->metrics);
  if (jobs_add(jobs, &request->job) == 0) return true;
  leave(request, false);
  return false;
}

static void queue(struct service *service, struct request *request) {
  enum lane lane = request->route->lane;
  struct jobs *jobs = lane == LANE_UPLOAD    ? service->uploads
                      : lane == LANE_MONITOR ? service->monitor
                                             : service->queries;
  if (request->route->answer == api_metrics) kept_metrics_ask(&service->kept_metrics);
  request->job.run = run_job;
  request->job.on_done = on_job_done;
  request->job.requester = request->requester;
  if (hand_over(request, jobs)) return;
  answer_problem(&request->answer, 503, NULL, "too many %s are waiting; try again",
                 lane == LANE_UPLOAD ? "uploads" : "queries");
  answer_add_field(&request->answer, "Retry-After", "2");
  finish(service, request);
}

/* Makes the request for HEAD, with copies of all fields that a handler may need. */
static struct request *request_new(struct service *service, struct client *client,
                                   const struct http_head *head) {
  struct request *request = calloc(1, sizeof *request);
  if (request == NULL) return NULL;
  arena_init(&request->arena, REQUEST_ARENA_BYTES);
  request->service = service;
  request->client = client;
  request->is_head = span_is_equal(head->method, span_of_string("HEAD"));
  request->wants_gzip = head->accepts_gzip;
  request->wants_open_metrics = head->accepts_open_metrics;
  request->body_len = head->content_length;
  request->started_ns = clock_monotonic_ns();
  if (head->if_none_match.len)
    request->if_none_match =
        arena_string(&request->arena, head->if_none_match.data, head->if_none_match.len);
  const char *peer = client_peer_text(client);
  request->visitor = arena_string(&request->arena, peer, strlen(peer));
  if (request->visitor == NULL) {
    request_free(request);
    return NULL;
  }
  client_set_request(client, request);
  return request;
}

/* A collector without the page gives boards the API's URL. Older boards do not query it but print
   links to a page below it. The page's own URL describes the situation. */
static bool is_page_link(const struct http_head *head) {
  return span_is_equal(head->path, span_of_string("/api/v1/"));
}

static void send_to_page(struct answer *answer) {
  answer->status = 302;
  answer_add_field(answer, "Location", "../../"); /* relative: keeps a proxy's prefix */
}

/* Finds the route. Returns false if it has set an answer. */
static bool find_route(struct request *request, const struct http_head *head) {
  struct route_match match;
  int shown = head->path.len < PATH_BYTES_SHOWN ? (int)head->path.len : PATH_BYTES_SHOWN;
  int error = route_find(routes, routes_count, head->method, head->path, &match);
  if (error == -ENOENT && is_page_link(head)) {
    send_to_page(&request->answer);
  } else if (error == -ENOENT) {
    answer_problem(&request->answer, 404, NULL,
                   "%.*s: there is no such path; /api/v1/openapi.json lists all", shown,
                   (const char *)head->path.data);
  } else if (error) {
    answer_problem(&request->answer, 405, NULL, "%.*s: takes %s", shown,
                   (const char *)head->path.data, match.allow);
    answer_add_field(&request->answer, "Allow", match.allow);
  } else {
    request->route = match.route;
    request->argument = parameters_unescape(match.argument, false, &request->arena);
    if (request->argument) return true;
    answer_problem(&request->answer, 400, NULL, "the path has a %%-escape that is broken");
  }
  return false;
}

static void deny(struct service *service, struct request *request, int status, const char *why) {
  answer_problem(&request->answer, status, NULL,
                 "%s; `fleetprof-collector token --data DIR --role %s` makes a token for it, to be "
                 "shown as `Authorization: Bearer TOKEN`",
                 why, request->route->role == ROLE_SYMBOLS ? "symbols" : "read");
  if (status == 401)
    answer_add_field(&request->answer, "WWW-Authenticate", "Bearer realm=\"fleetprof\"");
  audit(service, request, status, why);
}

/* Returns 0 if the visitor has access, GATE_LOOK_UP if the token must be looked up, or else the
   status of REQUEST's answer. */
static int pass_gate(struct service *service, struct request *request,
                     const struct http_head *head) {
  struct gate_visitor visitor = {
      .server_is_loopback = service->is_loopback,
      .peer_is_loopback = gate_is_loopback_address(client_peer(request->client)),
      .is_forwarded = head->is_forwarded,
      .is_read = !is_upload(request),
      .host = head->host,
      .authorization = head->authorization,
      .fetch_site = head->fetch_site,
      .origin = head->origin,
  };
  const char *why = NULL;
  int status = gate_check(service->parts.access, &visitor, request->route->role, &why);
  if (status != 0 && status != GATE_LOOK_UP) deny(service, request, status, why);
  request->requester = gate_requester(client_peer(request->client), head->authorization);
  return status;
}

/* Reads and checks the parameters. Returns false if it has set an answer. */
static bool check_parameters(struct request *request, const struct http_head *head) {
  char why[256];
  if (parameters_parse(head->query, &request->arena, &request->parameters, why, sizeof why) != 0) {
    answer_problem(&request->answer, 400, NULL, "%s", why);
    return false;
  }
  for (unsigned i = 0; i < request->parameters.count; i++) {
    const char *name = request->parameters.rows[i].name;
    if (route_takes(request->route, name)) continue;
    answer_problem(&request->answer, 400, name,
                   "%.64s: is no parameter of this path, which takes %s; /api/v1/openapi.json "
                   "tells what they mean",
                   name, *request->route->parameters ? request->route->parameters : "none");
    return false;
  }
  return true;
}

/* Checks the length of an upload's body. Returns false if it has set an answer. */
static bool check_body(struct request *request, const struct http_head *head) {
  if (!is_upload(request)) return true;
  if (!head->has_length)
    answer_problem(&request->answer, 411, NULL, "Content-Length is missing");
  else if (head->content_length == 0)
    answer_problem(&request->answer, 400, NULL, "the body is empty");
  else if (head->content_length > BODY_BYTES_MAX)
    answer_problem(&request->answer, 413, NULL,
                   "a body may have %d MiB; send the file in parts, with offset and total",
                   BODY_BYTES_MAX >> 20);
  else if ((request->piece = malloc(CLIENT_PIECE_BYTES)) == NULL)
    answer_problem(&request->answer, 503, NULL, "not enough memory");
  else
    return true;
  return false;
}

/* Continues after the access check: if REQUEST is sound, reads its body or runs its job. Otherwise
   sends its answer. */
static void proceed(struct service *service, struct request *request) {
  bool is_sound = request->is_sound;
  if (is_sound && request->piece) {
    client_read_body(request->client);
  } else if (is_sound && request->route->lane != LANE_LOOP) {
    queue(service, request);
  } else {
    if (is_sound) run_job(&request->job);
    finish(service, request);
  }
}

static void run_lookup(struct job *job) {
  struct request *request = (struct request *)job;
  gate_look_up(request->service->parts.access, span_of_string(request->authorization));
}

static void on_looked_up(struct job *job, enum job_end end) {
  struct request *request = (struct request *)job;
  struct service *service = request->service;
  struct gate_visitor visitor = {.is_read = !is_upload(request),
                                 .authorization = span_of_string(request->authorization),
                                 .was_looked_up = true};
  const char *why = NULL;
  bool was_run = end == JOB_RUN;
  request->jobs = NULL;
  int status = gate_check(service->parts.access, &visitor, request->route->role, &why);
  if (was_run && status == 0 && request->client != NULL) {
    proceed(service, request);
    return;
  }
  answer_fini(&request->answer); /* discards a problem of its parameters */
  request->answer = (struct answer){0};
  if (!was_run)
    refuse_unrun(request, end);
  else if (status != 0)
    deny(service, request, status, why);
  finish(service, request);
}

/* Queues a look-up of HEAD's token. Returns whether it is queued. */
static bool look_up(struct service *service, struct request *request,
                    const struct http_head *head) {
  request->authorization =
      arena_string(&request->arena, head->authorization.data, head->authorization.len);
  request->job.run = run_lookup;
  request->job.on_done = on_looked_up;
  request->job.requester = gate_requester(client_peer(request->client), span_of(NULL, 0));
  return request->authorization != NULL && hand_over(request, service->lookups);
}

void reception_head(void *context, struct client *client, const struct http_head *head) {
  struct service *service = context;
  struct request *request = request_new(service, client, head);
  if (request == NULL) {
    struct answer answer = {0};
    answer_problem(&answer, 503, NULL, "not enough memory");
    client_answer(client, &answer, false);
    return;
  }
  int status = find_route(request, head) ? pass_gate(service, request, head) : -ENOENT;
  if (status == 0 || status == GATE_LOOK_UP)
    request->is_sound = check_parameters(request, head) && check_body(request, head);
  if (status == GATE_LOOK_UP && look_up(service, request, head)) return;
  if (status == GATE_LOOK_UP) {
    request->is_sound = false;
    answer_problem(&request->answer, 503, NULL, "too many tokens are being looked up; try again");
  }
  proceed(service, request);
}

void reception_piece(void *context, struct client *client, struct evbuffer *bytes, size_t len) {
  struct request *request = client_request(client);
  request->piece_len = len;
  evbuffer_remove(bytes, request->piece, len);
  queue(context, request);
}

void reception_forsake(struct client *client) {
  struct request *request = client_request(client);
  client_set_request(client, NULL);
  if (request == NULL) return;
  request->client = NULL;
  metrics_abandoned(request->service->metrics);
  atomic_store_explicit(&request->is_abandoned, true, memory_order_relaxed);
  bool is_nowhere = request->jobs == NULL;
  bool was_waiting = !is_nowhere && jobs_remove(request->jobs, &request->job);
  if (was_waiting) leave(request, false);
  if (is_nowhere || was_waiting) request_free(request);
}

static void refuse(struct service *service, struct client *client, int status, const char *detail) {
  struct answer answer = {0};
  answer_problem(&answer, status, NULL, "%s", detail);
  metrics_count(service->metrics, NULL, status);
  client_answer(client, &answer, false);
}

void reception_fault(void *context, struct client *client, const struct head_fault *fault) {
  reception_forsake(client); /* an upload that waits for bytes */
  refuse(context, client, fault->status, fault->detail);
}

void reception_late(void *context, struct client *client) {
  reception_forsake(client);
  refuse(context, client, 504, "no answer was found in 2 minutes: narrow the selection");
}
