/* SPDX-License-Identifier: Apache-2.0 */
/* All allocations of a query count against its limit, and a query beyond it is rejected with the
   reason. Whichever allocation reaches the limit, the answer is complete or is that rejection. */
#include "api_world.h"

#include "../query/own_file.h"
#include "common/meter.h"
#include "http/query_answer.h"

enum { WINDOWS = 40, DEPTH = 12, OWN_STACKS = 16, RICH_BYTES = 256 << 20 };

static const char *const formats[] = {"top",   "tree",       "columns",   "folded",
                                      "pprof", "speedscope", "callgrind", "perf-script"};

/* Stacks of which each has addresses of its own: 30 000 nodes. */
static int set_up_many(void **state) {
  static struct window window;
  int failed = set_up(state);
  uint64_t address = 0x1000, now_ms = clock_walltime_ns() / NS_PER_MS;
  for (uint64_t seq = 1; seq <= WINDOWS && !failed; seq++) {
    window_init(&window, "shop", 1);
    for (unsigned stack = 0; stack < STACKS_MAX; stack++) {
      uint64_t frames[DEPTH][2] = {{0, 0x100}};
      for (unsigned i = 1; i < DEPTH; i++) frames[i][1] = address += 16;
      window_add(&window, (const uint64_t(*)[2])frames, DEPTH, 1, 10);
    }
    window_append(&window, service.parts.store, "press-7", seq, now_ms - 60000);
  }
  return failed;
}

static char from[24], to[24]; /* the same of all questions */
static size_t limit_bytes, most_bytes;

static void make_profile(struct request *asked) {
  static const struct route profile = {.lane = LANE_QUERY, .answer = api_profile};
  asked->route = &profile;
  service.query_bytes = limit_bytes;
  most_bytes = query_answer_make(asked);
}

/* Queries FORMAT of SERVICE within BYTES. Returns the peak of its memory. */
static size_t ask_within(const char *named, const char *format, size_t bytes) {
  char match[64];
  uint64_t now_s = clock_walltime_ns() / NS_PER_SECOND;
  snprintf(match, sizeof match, "{service=\"%s\"}", named);
  if (from[0] == '\0') {
    snprintf(from, sizeof from, "%llu", (unsigned long long)now_s - 3600);
    snprintf(to, sizeof to, "%llu", (unsigned long long)now_s + 60);
  }
  limit_bytes = bytes;
  ask_with(make_profile,
           (const char *const[]){"format", format, "match", match, "from", from, "to", to, NULL});
  return most_bytes;
}

static struct buf whole; /* FORMAT's answer without a limit */

/* Queries within LIMIT. Returns whether it was rejected; otherwise the answer is complete. */
static bool is_refused(const char *named, const char *format, size_t limit) {
  size_t most = ask_within(named, format, limit);
  const struct buf *body = &request.answer.body;
  assert_true(most < limit + limit / 8 + (1 << 20));
  if (request.answer.status == 0) {
    assert_int_equal(body->len, whole.len);
    assert_memory_equal(body->data, whole.data, whole.len);
    return false;
  }
  assert_int_equal(request.answer.status, 422);
  assert_has(buf_text(&request.answer.body), "\"detail\":\"limit memory: ");
  return true;
}

static size_t ask_for_all(const char *named, const char *format) {
  size_t most = ask_within(named, format, RICH_BYTES);
  assert_int_equal(request.answer.status, 0);
  buf_clear(&whole);
  buf_append(&whole, request.answer.body.data, request.answer.body.len);
  return most;
}

static void a_question_takes_what_is_counted(void **state) {
  (void)state;
  size_t most = ask_within("shop", "tree", RICH_BYTES);
  assert_int_equal(request.answer.status, 0);
  assert_true(most > request.answer.body.len + request.arena.used_bytes);
  assert_true(most < RICH_BYTES / 4);
}

static void a_question_that_takes_more_is_refused_by_name(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    size_t enough = ask_for_all("shop", formats[i]), refused = 0;
    for (size_t part = 1; part < 24; part++)
      refused += is_refused("shop", formats[i], enough * part / 24);
    assert_true(refused > 12);
    ask_within("shop", formats[i], RICH_BYTES);
    assert_int_equal(request.answer.status, 0); /* nothing was kept of the failures */
  }
}

/* Like another collector: no name was looked up before. */
static void restart_symbolizer(void) {
  char error[256] = "";
  struct http_parts *parts = &service.parts;
  symbolizer_close(parts->symbolizer);
  parts->symbolizer = NULL;
  if (symbolizer_open(parts->debug, &parts->symbolizer, error, sizeof error)) fail_msg("%s", error);
}

static void an_answer_has_all_names_or_is_none(void **state) {
  static struct window window;
  struct own_file own = {0};
  uint64_t now_ms = clock_walltime_ns() / NS_PER_MS;
  (void)state;
  if (!find_own_file(&own)) skip(); /* linked without a build-id */
  uint64_t base = (uint64_t)(uintptr_t)an_answer_has_all_names_or_is_none - own.load_address;
  window_init(&window, "own", 2);
  window.modules[0].id = span_of(own.build_id, own.build_id_len);
  for (uint64_t i = 0; i < OWN_STACKS; i++) {
    uint64_t frames[][2] = {{0, base + i * 16384}};
    window_add(&window, (const uint64_t(*)[2])frames, 1, 1, 10);
  }
  window_append(&window, service.parts.store, "b1", 1, now_ms - 60000);
  send_own_file(service.parts.debug, &own);
  assert_int_equal(symbolizer_prepare(service.parts.symbolizer, "b1", window.modules[0].id), 0);
  assert_true(symbolizer_settle(service.parts.symbolizer, 20000));
  ask_for_all("own", "folded"); /* opens the day's file */
  restart_symbolizer();
  size_t enough = ask_for_all("own", "folded"), refused = 0;
  assert_has(buf_text(&whole), "an_answer_has_all_names_or_is_none");
  for (size_t part = 1; part < 128; part++) {
    restart_symbolizer();
    refused += is_refused("own", "folded", enough * part / 128);
    ask_within("own", "folded", RICH_BYTES); /* a query's limit does not affect other queries */
    assert_int_equal(request.answer.body.len, whole.len);
    assert_memory_equal(request.answer.body.data, whole.data, whole.len);
  }
  assert_true(refused > 64);
  buf_fini(&whole);
}

static void make_metrics(struct request *asked) {
  static const struct route metrics = {.lane = LANE_MONITOR, .answer = api_metrics};
  asked->route = &metrics;
  service.query_bytes = limit_bytes;
  query_answer_make(asked);
}

static void a_scrape_goes_without_what_takes_too_much(void **state) {
  static const char ratio[] = "\nfleetprof_unsymbolized_samples_ratio ";
  (void)state;
  for (unsigned is_rich = 0; is_rich < 2; is_rich++) {
    limit_bytes = is_rich ? RICH_BYTES : 1 << 20;
    service.query_bytes = limit_bytes;
    kept_metrics_make(&service.kept_metrics);
    const char *body = ask(make_metrics, NULL, NULL, NULL, NULL);
    assert_int_equal(request.answer.status, 0);
    assert_has(body, "\nfleetprof_samples_stored_total ");
    assert_int_equal(strstr(body, ratio) != NULL, is_rich);
  }
}

static void write_much(struct request *asked) {
  static const uint8_t much[2 << 20];
  buf_append(&asked->answer.body, much, sizeof much);
}

/* Two threads allocate at the same time. */
static void what_monitoring_asks_has_an_eighth_of_a_querys(void **state) {
  static const struct {
    enum lane lane;
    size_t limit_mib;
    int status;
    const char *why;
  } rows[] = {{LANE_QUERY, 8, 0, ""},
              {LANE_MONITOR, 64, 0, ""},
              {LANE_MONITOR, 8, 422, "more than the 1 MiB that one may have"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct route route = {.lane = rows[i].lane, .answer = write_much};
    end_request(state);
    request = (struct request){.service = &service, .route = &route};
    service.query_bytes = rows[i].limit_mib << 20;
    query_answer_make(&request);
    assert_int_equal(request.answer.status, rows[i].status);
    if (rows[i].status != 0) assert_has(buf_text(&request.answer.body), rows[i].why);
  }
  end_request(state);
}

static void threads_that_ask_nothing_are_not_counted(void **state) {
  (void)state;
  void *large = malloc(64 << 20);
  assert_non_null(large);
  meter_start(1 << 20);
  void *more = malloc(2 << 20), *moved = realloc(NULL, 2 << 20);
  assert_null(more);
  assert_null(moved);
  assert_null(calloc(2, 1 << 20));
  assert_null(reallocarray(NULL, 2, 1 << 20));
  more = malloc(METER_SMALL_BYTES - 1);
  assert_non_null(more);
  free(more);
  free(large); /* was there before: so much more may be had now */
  more = malloc(2 << 20);
  assert_non_null(more);
  meter_stop();
  free(more);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_question_takes_what_is_counted),
      cmocka_unit_test(a_question_that_takes_more_is_refused_by_name),
      cmocka_unit_test(an_answer_has_all_names_or_is_none),
      cmocka_unit_test(a_scrape_goes_without_what_takes_too_much),
      cmocka_unit_test(what_monitoring_asks_has_an_eighth_of_a_querys),
      cmocka_unit_test(threads_that_ask_nothing_are_not_counted),
  };
  return cmocka_run_group_tests(tests, set_up_many, tear_down);
}
