/* SPDX-License-Identifier: Apache-2.0 */
/* Counters are relaxed atomics: written on the loop and read by another thread. They are
   independent, and a scrape may lag by one. A request's labels are its route and the class of its
   status, so that clients cannot create new series. */
#include "metrics.h"

#include "commit.h"
#include "common/buf.h"
#include "common/meter.h"
#include "routes.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { CLASSES = 6 /* 0 is unused, 1xx..5xx */, BUCKETS = 9 };

static const double bucket_seconds[BUCKETS] = {0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60};

struct metrics {
  atomic_uint_fast64_t answers[ROUTES_MAX + 1][CLASSES]; /* the last row: no route */
  atomic_uint_fast64_t buckets[BUCKETS + 1];             /* the last: longer than all others */
  atomic_uint_fast64_t duration_ns;
  atomic_uint_fast64_t connected, disconnected, refused;
  atomic_uint_fast64_t queries_queued, queries_left, queries_began, queries_ended, abandoned;
  atomic_uint_fast64_t query_bytes; /* the most memory that one query had */
};

static void add(atomic_uint_fast64_t *counter, uint64_t value) {
  atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

static uint64_t get(const atomic_uint_fast64_t *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

struct metrics *metrics_new(void) {
  return calloc(1, sizeof(struct metrics));
}

void metrics_free(struct metrics *metrics) {
  free(metrics);
}

void metrics_count(struct metrics *metrics, const struct route *route, int status) {
  size_t row = route ? (size_t)(route - routes) : ROUTES_MAX;
  int class = status / 100;
  if (row > ROUTES_MAX || class < 1 || class >= CLASSES) return;
  add(&metrics->answers[row][class], 1);
}

void metrics_observe(struct metrics *metrics, uint64_t duration_ns) {
  size_t bucket = 0;
  while (bucket < BUCKETS && (double)duration_ns > bucket_seconds[bucket] * 1e9) bucket++;
  add(&metrics->buckets[bucket], 1);
  add(&metrics->duration_ns, duration_ns);
}

size_t metrics_meter(struct metrics *metrics, size_t limit_bytes, void (*work)(void *context),
                     void *context) {
  meter_start(limit_bytes);
  work(context);
  size_t bytes = meter_stop();
  uint_fast64_t most = get(&metrics->query_bytes);
  while (bytes > most && !atomic_compare_exchange_weak(&metrics->query_bytes, &most, bytes))
    continue;
  return bytes;
}

void metrics_query_queued(struct metrics *metrics) {
  add(&metrics->queries_queued, 1);
}

void metrics_query_left(struct metrics *metrics) {
  add(&metrics->queries_left, 1);
}

void metrics_query_began(struct metrics *metrics) {
  add(&metrics->queries_began, 1);
}

void metrics_query_ended(struct metrics *metrics) {
  add(&metrics->queries_ended, 1);
}

void metrics_abandoned(struct metrics *metrics) {
  add(&metrics->abandoned, 1);
}

void metrics_connected(struct metrics *metrics) {
  add(&metrics->connected, 1);
}

void metrics_disconnected(struct metrics *metrics) {
  add(&metrics->disconnected, 1);
}

void metrics_refused(struct metrics *metrics) {
  add(&metrics->refused, 1);
}

static void print_row(const struct metrics *metrics, size_t row, struct buf *ret) {
  bool has_route = row < routes_count;
  for (int class = 1; class < CLASSES; class ++) {
    uint64_t count = get(&metrics->answers[row][class]);
    if (count == 0) continue;
    buf_printf(
        ret,
        "fleetprof_http_requests_total{method=\"%s\",route=\"%s\",status=\"%dxx\"} %" PRIu64 "\n",
        has_route ? routes[row].method : "", has_route ? routes[row].path : "", class, count);
  }
}

static void print_durations(const struct metrics *metrics, struct buf *ret) {
  buf_append_string(ret, "# HELP fleetprof_query_duration_seconds From a query's arrival to its "
                         "answer.\n"
                         "# TYPE fleetprof_query_duration_seconds histogram\n");
  uint64_t count = 0;
  for (size_t i = 0; i < BUCKETS; i++) {
    count += get(&metrics->buckets[i]);
    buf_printf(ret, "fleetprof_query_duration_seconds_bucket{le=\"%g\"} %" PRIu64 "\n",
               bucket_seconds[i], count);
  }
  count += get(&metrics->buckets[BUCKETS]);
  buf_printf(ret,
             "fleetprof_query_duration_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n"
             "fleetprof_query_duration_seconds_sum %.9f\n"
             "fleetprof_query_duration_seconds_count %" PRIu64 "\n",
             count, (double)get(&metrics->duration_ns) / 1e9, count);
}

void metrics_print(const struct metrics *metrics, struct buf *ret) {
  /* Read in this order, or the difference could be negative. */
  uint64_t ended = get(&metrics->queries_ended), began = get(&metrics->queries_began);
  uint64_t left = get(&metrics->queries_left);
  uint64_t waiting = get(&metrics->queries_queued) - began - left, running = began - ended;
  buf_printf(ret,
             "# HELP fleetprof_build_info Constant 1, with what runs.\n"
             "# TYPE fleetprof_build_info gauge\n"
             "fleetprof_build_info{version=\"%s\",commit=\"%s\"} 1\n"
             "# HELP fleetprof_http_requests_total Answers, by route and class of status.\n"
             "# TYPE fleetprof_http_requests_total counter\n",
             FLEETPROF_VERSION, FLEETPROF_COMMIT);
  for (size_t row = 0; row < routes_count; row++) print_row(metrics, row, ret);
  print_row(metrics, ROUTES_MAX, ret);
  print_durations(metrics, ret);
  buf_printf(ret,
             "# HELP fleetprof_query_memory_bytes_max The most that one query had allocated.\n"
             "# TYPE fleetprof_query_memory_bytes_max gauge\n"
             "fleetprof_query_memory_bytes_max %" PRIu64 "\n"
             "# HELP fleetprof_queries_running Queries that are being answered.\n"
             "# TYPE fleetprof_queries_running gauge\n"
             "fleetprof_queries_running %" PRIu64 "\n"
             "# HELP fleetprof_queries_waiting Queries that wait for their turn.\n"
             "# TYPE fleetprof_queries_waiting gauge\n"
             "fleetprof_queries_waiting %" PRIu64 "\n"
             "# HELP fleetprof_http_abandoned_requests_total Requests whose peer went, or whose "
             "time was over, before there was an answer.\n"
             "# TYPE fleetprof_http_abandoned_requests_total counter\n"
             "fleetprof_http_abandoned_requests_total %" PRIu64 "\n"
             "# HELP fleetprof_http_connections Open connections.\n"
             "# TYPE fleetprof_http_connections gauge\n"
             "fleetprof_http_connections %" PRIu64 "\n"
             "# HELP fleetprof_http_refused_connections_total Connections over a limit.\n"
             "# TYPE fleetprof_http_refused_connections_total counter\n"
             "fleetprof_http_refused_connections_total %" PRIu64 "\n",
             get(&metrics->query_bytes), running, waiting, get(&metrics->abandoned),
             get(&metrics->connected) - get(&metrics->disconnected), get(&metrics->refused));
}
