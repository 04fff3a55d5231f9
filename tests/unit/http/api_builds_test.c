/* SPDX-License-Identifier: Apache-2.0 */
/* A program without names in two builds of one file name: addresses of one build do not apply to
   the other. */
#include "api_world.h"

/* A stripped program in two builds of one file name. In the second, the function at 0x100 is
   sixteen bytes longer. So all later functions have moved, and at the end of the one at 0x210
   another begins. */
static void append_build(const char *build, const char *version, uint64_t ago_ms) {
  static const uint64_t old_frames[3][1][2] = {{{0, 0x100}}, {{0, 0x200}}, {{0, 0x300}}};
  static const uint64_t new_frames[3][1][2] = {{{0, 0x100}}, {{0, 0x210}}, {{0, 0x300}}};
  static const uint64_t counts[3] = {2000, 5000, 3000};
  static struct window window;
  static uint64_t run = 1000;
  struct label label = {"version", version};
  bool is_new = strcmp(build, "\x01\x02\x03\x04") != 0;
  window_init(&window, "shop", ++run);
  window.modules[0].id = span_of(build, 4);
  window.target.labels = &label;
  window.target.label_count = 1;
  for (unsigned i = 0; i < 3; i++)
    window_add(&window, is_new ? new_frames[i] : old_frames[i], 1, counts[i], counts[i]);
  window_append(&window, service.parts.store, "board", 1, clock_walltime_ns() / NS_PER_MS - ago_ms);
}

static void append_update(void) {
  append_build("\x01\x02\x03\x04", "1.4", 90 * 60000);
  append_build("\xa1\xa2\xa3\xa4", "1.5", 60000);
}

static void addresses_of_two_builds_are_never_called_changed(void **state) {
  static const char *const asked[] = {
      "a", "{version=\"1.4\"}", "b", "{version=\"1.5\"}", "from", "-3h", NULL};
  (void)state;
  append_update();
  const char *text = ask_with(api_diff, asked);
  assert_has(text, "\"tested\":0,\"changed\":0,");
  /* Both at 0x100, but different code. */
  assert_has(text, "\"name\":\"tool+0x100 [01020304]\"");
  assert_has(text, "\"name\":\"tool+0x100 [a1a2a3a4]\"");
  assert_has(text, "\"doubt\":\"apart\"");
  assert_null(strstr(text, "\"same\""));
}

/* Halfway through an update: one side has both builds, the other only one of them. */
static void a_build_that_both_sides_have_is_one_row_though_one_side_has_another_too(void **state) {
  static const char *const asked[] = {
      "a", "{version=\"1.4\"}", "b", "{version=~\"1.*\"}", "from", "-3h", NULL};
  (void)state;
  append_update();
  const char *text = ask_with(api_diff, asked);
  const char *row = strstr(text, "\"tool+0x200 [01020304]\"");
  assert_has(text,
             "\"tool+0x200 [01020304]\",\"module\":\"tool\",\"file\":null,\"a\":0.5,\"b\":0.25,");
  assert_null(strstr(row + 2, "tool+0x200"));
}

static void addresses_of_one_build_are_compared(void **state) {
  static const char *const asked[] = {"b_from", "-1h", "a_from", "-2h", NULL};
  (void)state;
  for (unsigned minute = 1; minute < 59; minute++) {
    append_build("\x01\x02\x03\x04", "1.4", (60 + minute) * 60000);
    append_build("\x01\x02\x03\x04", "1.5", minute * 60000);
  }
  const char *text = ask_with(api_diff, asked);
  assert_has(text, "\"tested\":3,\"changed\":0,");
  assert_has(text, "\"name\":\"tool+0x100\"");
}

static void a_table_keeps_the_functions_of_builds_apart(void **state) {
  (void)state;
  append_update();
  const char *text = ask(api_profile, "from", "-3h", NULL, NULL);
  assert_has(text, "{\"name\":\"tool+0x200 [01020304]\",\"module\":\"tool\",");
  assert_has(text, "{\"name\":\"tool+0x100 [01020304]\",");
  assert_has(text, "{\"name\":\"tool+0x100 [a1a2a3a4]\",");
  assert_null(strstr(text, "\"tool+0x100\""));
  text = ask(api_load, "by", "function", "from", "-3h");
  assert_has(text, "\"tool+0x100 [01020304]\",\"module\":\"tool\",\"file\":null,\"weight\":2000,");
  assert_has(text, "\"tool+0x100 [a1a2a3a4]\",\"module\":\"tool\",\"file\":null,\"weight\":2000,");
  text = ask(api_profile, "from", "-3h", "format", "folded");
  assert_has(text, "tool+0x300 [a1a2a3a4] 3000\n");
  /* With a single build no distinction is needed. */
  assert_has(ask(api_profile, "match", "{version=\"1.5\"}", "from", "-3h"), "\"tool+0x210\"");
}

static void a_function_of_one_build_can_be_asked_for(void **state) {
  (void)state;
  append_update();
  assert_has(ask(api_function, "function", "tool+0x100 [a1a2a3a4]", "from", "-3h"),
             "\"self\":2000,");
  assert_has(ask(api_function, "function", "tool+0x100", "from", "-3h"), "\"self\":4000,");
  ask(api_function, "function", "tool+0x100 [a1a2a3a5]", "from", "-3h");
  assert_int_equal(request.answer.status, 404);
  ask(api_callers, "function", "tool+0x100 [a1a2a3a4]", "from", "-3h");
  assert_int_equal(request.answer.status, 0);
  ask(api_callers, "function", "tool+0x100", "from", "-3h");
  assert_int_equal(request.answer.status, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(addresses_of_two_builds_are_never_called_changed),
      TEST(a_build_that_both_sides_have_is_one_row_though_one_side_has_another_too),
      TEST(addresses_of_one_build_are_compared),
      TEST(a_table_keeps_the_functions_of_builds_apart),
      TEST(a_function_of_one_build_can_be_asked_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
