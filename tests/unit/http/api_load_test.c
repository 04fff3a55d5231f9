/* SPDX-License-Identifier: Apache-2.0 */
/* Load and series, field by field. */
#include "api_world.h"

static int set_up_two(void **state) {
  int failed = set_up(state);
  if (failed) return failed;
  append_hundred("press-7", 77);
  append_hundred("press-8", 78);
  return 0;
}

static void load_has_every_promised_field(void **state) {
  (void)state;
  const char *body = ask(api_load, "by", "board", NULL, NULL);
  assert_int_equal(request.answer.status, 0);
  assert_has(body, "{\"total\":2000,\"unit\":\"nanoseconds\",\"samples\":200,");
  assert_has(body, "\"loss\":{");
  assert_has(body, "\"by\":\"board\",\"rows\":[{\"name\":\"press-7\",\"weight\":1000,"
                   "\"samples\":100,\"share\":0.5,\"ci\":[0.4");
  assert_has(body, "{\"name\":\"press-8\",\"weight\":1000,");
  assert_has(body, "\"rest\":{\"rows\":0,\"weight\":0,\"samples\":0}");
}

static void load_by_function_says_of_which_module(void **state) {
  (void)state;
  assert_has(
      ask(api_load, "by", "function", NULL, NULL),
      "\"rows\":[{\"name\":\"tool+0x10\",\"module\":\"tool\",\"file\":null,\"weight\":1200,");
}

static void a_limit_leaves_the_rest_in_one_sum(void **state) {
  (void)state;
  const char *body = ask(api_load, "by", "module", "limit", "1");
  assert_has(body, "\"rows\":[{\"name\":\"tool\",\"weight\":1800,");
  assert_has(body, "}],\"rest\":{\"rows\":1,\"weight\":200,\"samples\":20}");
}

static void by_what_must_be_said_and_be_there(void **state) {
  (void)state;
  assert_has(ask(api_load, NULL, NULL, NULL, NULL), "\"parameter\":\"by\"");
  assert_int_equal(request.answer.status, 400);
  assert_has(ask(api_load, "by", "bord", NULL, NULL),
             "no sample of this selection has a label \\\"bord\\\"; the nearest is \\\"board\\\":");
  assert_int_equal(request.answer.status, 400);
  assert_has(ask(api_series, "by", "sevice", NULL, NULL), "the nearest is \\\"service\\\":");
  assert_int_equal(request.answer.status, 400);
  assert_has(ask(api_load, "by", "colour", NULL, NULL), "a label \\\"colour\\\": /api");
  ask(api_load, "by", "bord", "match", "{service=\"none\"}");
  assert_int_equal(request.answer.status, 0); /* where nothing is, nothing is a mistake */
}

static void series_have_every_promised_field(void **state) {
  (void)state;
  const char *body = ask(api_series, "by", "board", NULL, NULL);
  assert_int_equal(request.answer.status, 0);
  assert_has(body, "{\"total\":2000,");
  assert_has(body, "\"step\":60,\"by\":\"board\",\"series\":["
                   "{\"labels\":{\"board\":\"press-7\"},\"weight\":1000,\"points\":[[");
  assert_has(body, "{\"labels\":{\"board\":\"press-8\"},");
  assert_has(body, "\"rest\":{\"series\":0,\"weight\":0,\"points\":[]}");
  assert_has(ask(api_series, NULL, NULL, NULL, NULL),
             "\"by\":null,\"series\":[{\"labels\":{},\"weight\":2000,");
}

static void a_step_is_checked_and_found(void **state) {
  (void)state;
  static const char *const wrong[] = {"0", "-1", "1m", "99999999999", ""};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_has(ask(api_series, "step", wrong[i], NULL, NULL), "\"parameter\":\"step\"");
    assert_int_equal(request.answer.status, 400);
  }
  assert_has(ask(api_series, "step", "1", "from", "-1d"), "more than 11000 steps: 60 seconds do");
  assert_has(ask(api_series, "from", "-30d", NULL, NULL), "\"step\":240,");
  assert_has(ask(api_series, "from", "0", NULL, NULL), "{\"total\":2000,");
}

static void a_function_has_every_promised_field(void **state) {
  (void)state;
  const char *body = ask(api_function, "function", "tool+0x10", NULL, NULL);
  assert_int_equal(request.answer.status, 0);
  assert_has(body, "{\"total\":2000,");
  assert_has(body, "\"function\":{\"name\":\"tool+0x10\",\"self\":1200,\"total\":2000,"
                   "\"self_samples\":120,\"total_samples\":200,\"self_share\":0.6,\"self_ci\":[0.");
  assert_has(body, "\"by_offset\":[{\"offset\":0,\"address\":\"0x10\",\"code\":\"tool+0x10\","
                   "\"module\":\"tool\","
                   "\"build_id\":\"01020304\",\"self\":1200,\"samples\":120}]");
  assert_has(body, "\"by_line\":[{\"file\":null,\"line\":null,\"self\":1200,\"total\":2000,"
                   "\"samples\":120}]");
  assert_has(body, "\"by_build\":[{\"build_id\":\"01020304\",\"module\":\"tool\",\"self\":1200,");
  assert_has(body, "\"by_board\":[{\"name\":\"press-7\",\"self\":600,\"total\":1000,"
                   "\"samples\":60},");
  assert_has(body, "\"by_thread\":[{\"name\":\"main\",\"self\":1200,\"total\":2000,"
                   "\"samples\":120}]");
  assert_has(body, "\"rest\":{\"definitions\":{\"rows\":0,\"weight\":0,\"samples\":0},");
}

static void a_limit_leaves_the_rest_of_each_list_of_a_function(void **state) {
  (void)state;
  const char *asked[] = {"function", "tool+0x10", "limit", "1", NULL};
  const char *body = ask_with(api_function, asked);
  assert_has(body, "\"by_board\":[{\"name\":\"press-7\",\"self\":600,\"total\":1000,"
                   "\"samples\":60}],");
  assert_has(body, "\"by_board\":{\"rows\":1,\"weight\":600,\"samples\":60},");
  assert_has(body, "\"by_line\":{\"rows\":0,\"weight\":0,\"samples\":0},");
}

static void a_function_that_is_not_there_is_told_with_its_neighbours(void **state) {
  (void)state;
  assert_has(ask(api_function, "function", "tool+0x11", NULL, NULL),
             "the nearest: \\\"tool+0x10\\\"");
  assert_int_equal(request.answer.status, 404);
  assert_has(ask(api_function, NULL, NULL, NULL, NULL), "\"parameter\":\"function\"");
  assert_int_equal(request.answer.status, 400);
}

/* The client disconnects before the answer is begun. */
static void what_nobody_waits_for_is_not_made(void **state) {
  (void)state;
  static void (*const handlers[])(struct request * request) = {
      api_load, api_series, api_profile, api_function, api_callers, api_labels, api_diff};
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
    end_request(NULL);
    request = (struct request){
        .service = &service, .route = &of_samples, .started_ns = clock_monotonic_ns()};
    arena_init(&request.arena, REQUEST_ARENA_BYTES);
    request.is_abandoned = true;
    if (i < 2)
      request.parameters.rows[request.parameters.count++] = (struct parameter){"by", "function"};
    if (i == 3 || i == 4)
      request.parameters.rows[request.parameters.count++] =
          (struct parameter){"function", "tool+0x10"};
    handlers[i](&request);
    assert_in_range(request.answer.status, 500, 504);
  }
}

#define TEST(name) cmocka_unit_test_teardown(name, end_request)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_nobody_waits_for_is_not_made),
      TEST(load_has_every_promised_field),
      TEST(load_by_function_says_of_which_module),
      TEST(a_limit_leaves_the_rest_in_one_sum),
      TEST(by_what_must_be_said_and_be_there),
      TEST(series_have_every_promised_field),
      TEST(a_step_is_checked_and_found),
      TEST(a_function_has_every_promised_field),
      TEST(a_limit_leaves_the_rest_of_each_list_of_a_function),
      TEST(a_function_that_is_not_there_is_told_with_its_neighbours),
  };
  return cmocka_run_group_tests(tests, set_up_two, tear_down);
}
