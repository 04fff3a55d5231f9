/* SPDX-License-Identifier: Apache-2.0 */
/* The content of /metrics in both formats. */
#include "api_world.h"

#include "common/options.h"
#include "http/board_metrics.h"
#include "http/head_guard.h"
#include "http/open_metrics.h"

static void a_family_of_counters_loses_its_total_and_its_samples_keep_it(void **state) {
  (void)state;
  struct buf text = {0}, open = {0};
  buf_append_string(&text, "# HELP a_total What a_total is.\n"
                           "# TYPE a_total counter\n"
                           "a_total{x=\"# TYPE b_total\"} 3\n"
                           "# HELP b_seconds _total\n"
                           "# TYPE b_seconds gauge\n"
                           "b_seconds 1.5\n"
                           "# HELP _total\n");
  open_metrics_convert(&text, &open);
  assert_string_equal(buf_text(&open), "# HELP a What a_total is.\n"
                                       "# TYPE a counter\n"
                                       "a_total{x=\"# TYPE b_total\"} 3\n"
                                       "# HELP b_seconds _total\n"
                                       "# TYPE b_seconds gauge\n"
                                       "b_seconds 1.5\n"
                                       "# HELP \n"
                                       "# EOF\n");
  buf_fini(&text);
  buf_fini(&open);
}

static bool accepts(const char *value) {
  char raw[200];
  struct http_head head;
  struct head_fault fault;
  snprintf(raw, sizeof raw, "GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: %s\r\n\r\n", value);
  assert_true(head_guard_parse(span_of_string(raw), &head, &fault) > 0);
  return head.accepts_open_metrics;
}

static void the_form_is_as_it_was_asked_for(void **state) {
  (void)state;
  assert_true(accepts("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"));
  assert_true(accepts("text/plain, Application/OpenMetrics-Text ; q=0.7"));
  assert_false(accepts("*/*"));
  assert_false(accepts("application/openmetrics-textual"));
}

static const char *ask_in_open_form(void) {
  end_request(NULL);
  request = (struct request){.service = &service, .wants_open_metrics = true};
  arena_init(&request.arena, REQUEST_ARENA_BYTES);
  api_metrics(&request);
  return buf_text(&request.answer.body);
}

static void boards_are_listed_with_when_they_were_seen(void **state) {
  (void)state;
  append_hundred("edge-\"1\"", 1);
  const char *body = ask(api_metrics, NULL, NULL, NULL, NULL);
  assert_has(body, "\nfleetprof_board_last_seen_timestamp_seconds{board=\"edge-\\\"1\\\"\"} 1");
  assert_has(body, "\nfleetprof_board_last_seen_is_cut 0\n");
  assert_has(body, "# TYPE fleetprof_http_requests_total counter\n");
  assert_string_equal(request.answer.type, "text/plain; version=0.0.4; charset=utf-8");
  body = ask_in_open_form();
  assert_has(body, "# TYPE fleetprof_http_requests counter\n");
  assert_has(body, "\n# EOF\n");
  assert_string_equal(request.answer.type, OPEN_METRICS_TYPE);
}

static void samples_are_summed_up_and_each_reason_for_loss_has_a_line(void **state) {
  (void)state;
  const char *body = ask(api_metrics, NULL, NULL, NULL, NULL);
  assert_has(body, "\nfleetprof_samples_produced_total 120\n");
  assert_has(body, "\nfleetprof_samples_stored_total 100\n");
  assert_has(body, "\nfleetprof_samples_pending 15\n");
  assert_has(body, "\nfleetprof_samples_dropped{reason=\"ring_full\"} 5\n");
  assert_has(body, "# TYPE fleetprof_samples_dropped gauge\n"); /* late batches make it fall */
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) assert_has(body, loss_name(i));
}

static void shares_are_of_the_last_minutes_and_as_they_were_made(void **state) {
  (void)state;
  struct option_list watched = {.count = 2, .values = {"tool+0x10", "\"no\""}};
  service.parts.watched = &watched;
  service.parts.watched_by = "version";     /* no sample has it */
  ask(api_profile, NULL, NULL, NULL, NULL); /* waits until all has settled, as these do not */
  kept_metrics_make(&service.kept_metrics);
  const char *body = ask(api_metrics, NULL, NULL, NULL, NULL);
  assert_has(body, "\nfleetprof_unsymbolized_samples_ratio 1.000000\n"); /* the kernel is no file */
  assert_has(body, "{release=\"\",function=\"tool+0x10\"} 1.000000\n");
  assert_has(body, "{release=\"\",function=\"\\\"no\\\"\"} 0.000000\n");
  watched.values[0] = "tool+0x20";
  body = ask(api_metrics, NULL, NULL, NULL, NULL);
  assert_has(body, "function=\"tool+0x10\"");
  kept_metrics_make(&service.kept_metrics);
  body = ask(api_metrics, NULL, NULL, NULL, NULL);
  assert_has(body, "{release=\"\",function=\"tool+0x20\"} 0.300000\n");
  service.parts.watched = NULL;
}

static void of_a_large_fleet_the_first_by_name_are_listed(void **state) {
  (void)state;
  char name[40];
  for (unsigned i = 0; i < BOARD_METRICS_MAX; i++) {
    snprintf(name, sizeof name, "board-%04u", i);
    append_hundred(name, i + 2);
  }
  const char *body = ask(api_metrics, NULL, NULL, NULL, NULL);
  assert_has(body, "{board=\"board-0000\"}");
  assert_null(strstr(body, "{board=\"edge-"));
  assert_has(body, "\nfleetprof_board_last_seen_is_cut 1\n");
  snprintf(name, sizeof name, "_produced_total %u\n", 120 * (BOARD_METRICS_MAX + 1));
  assert_has(body, name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_family_of_counters_loses_its_total_and_its_samples_keep_it),
      cmocka_unit_test(the_form_is_as_it_was_asked_for),
      cmocka_unit_test_teardown(boards_are_listed_with_when_they_were_seen, end_request),
      cmocka_unit_test_teardown(samples_are_summed_up_and_each_reason_for_loss_has_a_line,
                                end_request),
      cmocka_unit_test_teardown(shares_are_of_the_last_minutes_and_as_they_were_made, end_request),
      cmocka_unit_test_teardown(of_a_large_fleet_the_first_by_name_are_listed, end_request),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
