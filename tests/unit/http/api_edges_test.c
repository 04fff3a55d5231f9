/* SPDX-License-Identifier: Apache-2.0 */
/* Callers and callees, field by field. */
#include "api_world.h"

/* Beside a hundred stacks, five pairs: a PC in tool+0x20, and a link register. */
static int set_up_both(void **state) {
  static const uint64_t pair[][2] = {{0, 0x30}, {0, 0x20}};
  static struct window window;
  int failed = set_up(state);
  if (failed) return failed;
  append_hundred("press-7", 77);
  window_init(&window, "shop", 78);
  window_add(&window, pair, 2, 5, 50);
  window_make_lr(&window);
  window_append(&window, service.parts.store, "press-8", 1,
                clock_walltime_ns() / NS_PER_MS - 60000);
  return 0;
}

static void callers_have_every_promised_field(void **state) {
  (void)state;
  const char *body = ask(api_callers, "function", "tool+0x20", NULL, NULL);
  assert_int_equal(request.answer.status, 0);
  assert_has(body, "\"function\":\"tool+0x20\",");
  assert_has(body, "\"total\":350,");
  assert_has(body, "\"stack\":{\"weight\":300,\"samples\":30}");
  assert_has(body, "\"lr\":{\"weight\":50,\"samples\":5,\"resolvable_share\":0,"
                   "\"not_extrapolated\":50,\"resolvable_samples_min\":30,\"unresolved\":50,"
                   "\"by_unwind_row\":0,\"by_instructions\":0,\"by_outside\":0,\"by_inlining\":0,"
                   "\"outside\":0,\"outside_refuted\":0,\"code_not_seen\":50,"
                   "\"code_too_tangled\":0}");
  assert_has(body, "{\"function\":\"tool+0x10\",\"module\":\"tool\",\"file\":null,"
                   "\"kind\":\"stack\",\"weight\":300,\"measured\":300,\"extrapolated\":0,"
                   "\"samples\":30,\"share\":0.857142857142857");
  assert_has(body, "{\"function\":\"[unresolved]\",\"module\":null,\"file\":null,"
                   "\"kind\":\"lr\",\"weight\":50,\"measured\":50,\"extrapolated\":0,");
}

static void callees_are_the_same_from_the_other_end(void **state) {
  (void)state;
  const char *body = ask(api_callees, "function", "tool+0x10", NULL, NULL);
  assert_int_equal(request.answer.status, 0);
  assert_has(body, "\"total\":1000,");
  assert_has(body, "{\"function\":\"[self]\",");
  assert_has(body, "{\"function\":\"tool+0x20\",\"module\":\"tool\",\"file\":null,"
                   "\"kind\":\"stack\",\"weight\":300,");
}

static void a_limit_leaves_shares_as_they_are(void **state) {
  (void)state;
  const char *body = ask(api_callers, "function", "tool+0x20", "limit", "1");
  assert_has(body, "\"total\":350,");
  assert_has(body, "\"share\":0.857142857142857");
  assert_null(strstr(body, "[unresolved]"));
}

static void which_function_must_be_said_and_be_there(void **state) {
  (void)state;
  assert_has(ask(api_callers, NULL, NULL, NULL, NULL), "\"parameter\":\"function\"");
  assert_int_equal(request.answer.status, 400);
  assert_has(ask(api_callees, "function", "tool+0x21", NULL, NULL), "tool+0x20");
  assert_int_equal(request.answer.status, 404);
  ask(api_callers, "function", "tool+0x20", "module", "other");
  assert_int_equal(request.answer.status, 404);
}

#define TEST(test) cmocka_unit_test_teardown(test, end_request)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(callers_have_every_promised_field),
      TEST(callees_are_the_same_from_the_other_end),
      TEST(a_limit_leaves_shares_as_they_are),
      TEST(which_function_must_be_said_and_be_there),
  };
  return cmocka_run_group_tests(tests, set_up_both, tear_down);
}
