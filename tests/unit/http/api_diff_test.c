/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/v1/diff on a real store: which samples each side means, and what is said of them. */
#include "api_world.h"

enum { BOARDS = 6 };

/* Of 100000 samples HOT are in tool+0x10. */
static void append(const char *service_name, unsigned board, uint64_t hot, uint64_t ago_ms) {
  static const uint64_t frames[2][1][2] = {{{0, 0x10}}, {{0, 0x20}}};
  static struct window window;
  static uint64_t run;
  char name[32];
  snprintf(name, sizeof name, "board-%u", board);
  window_init(&window, service_name, ++run);
  window_add(&window, frames[0], 1, hot, hot);
  window_add(&window, frames[1], 1, 100000 - hot, 100000 - hot);
  window_append(&window, service.parts.store, name, 1, clock_walltime_ns() / NS_PER_MS - ago_ms);
}

/* Boards are 10, 14, 18, ... % by nature; the update makes each 3 points worse. */
static void append_update(void) {
  for (unsigned board = 0; board < BOARDS; board++) {
    append("old", board, 10000 + 4000 * board, 90 * 60000);
    append("new", board, 13000 + 4000 * board + 100 * (board % 2), 60000);
  }
}

static void an_update_of_the_same_boards_is_seen_by_pairs(void **state) {
  static const char *const asked[] = {
      "a", "{service=\"old\"}", "b", "{service=\"new\"}", "from", "-3h", NULL};
  (void)state;
  append_update();
  const char *text = ask_with(api_diff, asked);
  assert_has(text, "\"a\":{\"total\":600000,");
  assert_has(text, "\"samples\":600000,");
  assert_has(text, "\"loss\":{}");
  assert_has(text, "\"a_unit\":\"boards\",\"a_units\":6,\"b_unit\":\"boards\",\"b_units\":6,"
                   "\"pairs\":6");
  assert_has(text, "\"tested\":2,\"changed\":2,");
  assert_has(text, "\"difference\":0.0305,");
  assert_has(text, "\"verdict\":\"changed\"");
}

/* The same figures of boards that are others: their own differences are larger. */
static void other_boards_are_no_pairs(void **state) {
  static const char *const asked[] = {
      "a", "{service=\"old\"}", "b", "{service=\"new\"}", "from", "-3h", NULL};
  (void)state;
  for (unsigned board = 0; board < BOARDS; board++) {
    append("old", board, 10000 + 4000 * board, 90 * 60000);
    append("new", board + BOARDS, 13000 + 4000 * board, 60000);
  }
  const char *text = ask_with(api_diff, asked);
  assert_has(text, "\"pairs\":0");
  assert_has(text, "\"changed\":0,");
  assert_has(text, "\"verdict\":\"unclear\"");
}

static void without_times_of_its_own_a_is_what_was_before_b(void **state) {
  static const char *const length[] = {"match", "{board=~\"board-.*\"}", "b_from", "-1h", NULL};
  static const char *const start[] = {"b_from", "-1h", "a_from", "-2h", NULL};
  static const char *const others[] = {
      "a", "{service=\"old\"}", "b", "{service=\"new\"}", "b_from", "-1h", NULL};
  (void)state;
  append_update();
  assert_has(ask_with(api_diff, length), "\"changed\":2,");
  assert_has(ask_with(api_diff, length), "\"a\":{\"total\":600000,");
  assert_has(ask_with(api_diff, start), "\"a\":{\"total\":600000,");
  /* the last hour of another service */
  assert_has(ask_with(api_diff, others), "\"a\":{\"total\":0,");
}

/* A service is the same program when its file has another name. */
static void the_next_build_of_a_service_is_the_same_program(void **state) {
  static const uint64_t frames[1][2] = {{0, 0x10}};
  static const char *const asked[] = {"a",    "{service=\"shop\",version=\"1\"}",
                                      "b",    "{service=\"shop\",version=\"2\"}",
                                      "from", "-3h",
                                      NULL};
  static const char *const files[] = {"/opt/app.old", "/opt/app.new"};
  static struct window window;
  (void)state;
  for (unsigned i = 0; i < 2; i++) {
    struct label label = {"version", i == 0 ? "1" : "2"};
    window_init(&window, "shop", i + 1);
    window.modules[0].path = window.target.exe = files[i];
    window.target.labels = &label;
    window.target.label_count = 1;
    window_add(&window, frames, 1, 100, 100);
    window_append(&window, service.parts.store, "board", 1,
                  clock_walltime_ns() / NS_PER_MS - 60000);
  }
  const char *text = ask_with(api_diff, asked);
  assert_has(text, "\"module\":\"app.old -\\u003e app.new\"");
}

static void one_selection_twice_has_not_changed(void **state) {
  static const char *const asked[] = {"from", "-3h", "limit", "1", NULL};
  (void)state;
  append_update();
  const char *text = ask_with(api_diff, asked);
  assert_has(text, "\"changed\":0,");
  assert_has(text, "\"tested\":2,");
  assert_has(text, "\"difference\":0,");
  assert_null(strstr(strstr(text, "\"verdict\"") + 1, "\"verdict\"")); /* the limit */
}

static void mistakes_name_their_parameter(void **state) {
  static const char *const cases[][3] = {{"a", "{x", "a"},         {"b", "{x", "b"},
                                         {"match", "{x", "match"}, {"a_from", "soon", "a_from"},
                                         {"b_to", "-9h", "from"},  {"limit", "0", "limit"}};
  char wanted[64];
  (void)state;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *const asked[] = {cases[i][0], cases[i][1], NULL};
    const char *text = ask_with(api_diff, asked);
    assert_int_equal(request.answer.status, 400);
    snprintf(wanted, sizeof wanted, "\"detail\":\"%s:", cases[i][2]);
    assert_has(text, wanted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(an_update_of_the_same_boards_is_seen_by_pairs, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(other_boards_are_no_pairs, set_up, tear_down),
      cmocka_unit_test_setup_teardown(without_times_of_its_own_a_is_what_was_before_b, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(the_next_build_of_a_service_is_the_same_program, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(one_selection_twice_has_not_changed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(mistakes_name_their_parameter, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
