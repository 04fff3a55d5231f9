/* SPDX-License-Identifier: Apache-2.0 */
/* A collector's stores in a directory of their own, and questions to handlers without sockets. */
#ifndef TESTS_HTTP_API_WORLD_H
#define TESTS_HTTP_API_WORLD_H

#include "../query/fixture.h"

#include "common/clock.h"
#include "http/api.h"
#include "http/metrics.h"
#include "http/request.h"
#include "http/routes.h"
#include "names/debug_store.h"
#include "names/source_store.h"
#include "names/symbolizer.h"

static char dir[64];
static struct service service = {.query_bytes = QUERY_BYTES_MAX};
static struct request request;
static const struct route of_samples = {.lane = LANE_QUERY};

static inline int set_up(void **state) {
  (void)state;
  char error[256] = "";
  struct http_parts *parts = &service.parts;
  snprintf(dir, sizeof dir, "/tmp/api-test-XXXXXX");
  if (mkdtemp(dir) == NULL) return -1;
  int failed = debug_store_open(dir, &parts->debug, error, sizeof error) ||
               symbolizer_open(parts->debug, &parts->symbolizer, error, sizeof error) ||
               source_store_open(dir, &parts->sources, error, sizeof error) ||
               store_open(dir, &parts->store, error, sizeof error);
  if (failed) print_error("%s\n", error);
  kept_metrics_init(&service.kept_metrics, &service);
  return failed || (service.metrics = metrics_new()) == NULL;
}

static inline int end_request(void **state) {
  (void)state;
  answer_fini(&request.answer);
  arena_fini(&request.arena);
  request = (struct request){0};
  return 0;
}

static inline int tear_down(void **state) {
  end_request(state);
  symbolizer_close(service.parts.symbolizer);
  debug_store_close(service.parts.debug);
  source_store_close(service.parts.sources);
  store_close(service.parts.store);
  metrics_free(service.metrics);
  kept_metrics_fini(&service.kept_metrics);
  remove_dir(dir);
  return 0;
}

/* Calls HANDLER with PARAMETERS, names and values in turn, up to NULL; returns the body. */
static inline const char *ask_with(void (*handler)(struct request *request),
                                   const char *const *parameters) {
  end_request(NULL);
  request = (struct request){
      .service = &service, .route = &of_samples, .started_ns = clock_monotonic_ns()};
  arena_init(&request.arena, REQUEST_ARENA_BYTES);
  for (const char *const *at = parameters; *at != NULL; at += 2)
    request.parameters.rows[request.parameters.count++] = (struct parameter){at[0], at[1]};
  handler(&request);
  return buf_text(&request.answer.body);
}

/* The same with up to two. */
static inline const char *ask(void (*handler)(struct request *request), const char *name,
                              const char *value, const char *name2, const char *value2) {
  return ask_with(handler, (const char *const[]){name, value, name2, value2, NULL});
}
static inline void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) fail_msg("no %s in\n%s", part, text);
}

/* 60 records in tool+0x10, 30 in tool+0x20 under it, 10 in the kernel. */
static inline void append_hundred(const char *board, uint64_t run) {
  static const uint64_t hot[][2] = {{0, 0x10}}, deep[][2] = {{0, 0x10}, {0, 0x20}};
  static const uint64_t kernel[][2] = {{0, 0x10}, {1, 0}};
  static struct window window;
  struct counters counters = {.run = run, .produced = 120, .shipped = 100};
  counters.dropped[LOSS_RING_FULL] = 5;
  window_init(&window, "shop", run);
  window_add(&window, hot, 1, 60, 600);
  window_add(&window, deep, 2, 30, 300);
  window_add(&window, kernel, 2, 10, 100);
  window.batch.counters = counters;
  uint64_t now_ms = clock_walltime_ns() / NS_PER_MS;
  window_append(&window, service.parts.store, board, 1, now_ms - 60000);
  struct label label = {"site", "<b>north</b>"};
  struct effort effort = {.asked_mhz = 99000,
                          .rate_reason = "budget",
                          .handler_p50_ns = 61,
                          .handler_p99_ns = 480,
                          .sample_ns = 2800,
                          .daemon_cpu_ppm = 840,
                          .added_cpu_ppm = 2100,
                          .bytes_day = 123456,
                          .budget_cpu_ppm = 5000,
                          .budget_state = "cpu",
                          .stacks_ns = {0, 750, 250}};
  struct store_board_seen seen = {.board = board,
                                  .cpus = 4,
                                  .effort = &effort,
                                  .arch = "armv7l",
                                  .kernel = "5.4.0",
                                  .version = "0.1.0",
                                  .sampler = "perf",
                                  .achieved_mhz = 98700,
                                  .label_count = 1,
                                  .labels = &label,
                                  .clock = "synced",
                                  .counters = &counters,
                                  .seen_ms = now_ms};
  assert_int_equal(store_board_seen(service.parts.store, &seen), 0);
}

#endif
