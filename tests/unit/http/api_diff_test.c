/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/v1/diff on a real store: the samples selected for each side, and the verdicts. */
#include "api_world.h"

#include <math.h>
#include <stdlib.h>

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
  assert_has(text, "\"a_unit\":\"boards\",\"a_units\":6,");
  assert_has(text, "\"b_unit\":\"boards\",\"b_units\":6,");
  assert_has(text, "\"pairs\":6}");
  assert_has(text, "\"measure\":\"share\",\"of\":\"total\",\"scope\":\"fleet\",");
  assert_has(text, "\"unit\":\"board-hour\"");
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
  assert_null(strstr(strstr(text, "\"name\"") + 1, "\"name\"")); /* the limit */
}

/* An hour of BOARD's samples, a window a minute, of which HOT percent, more or less, are hot. */
static void append_hour(const char *service_name, unsigned board, uint64_t hot) {
  static const uint64_t noise[] = {500, 1700, 900, 100, 1300, 300, 1900, 1100, 700, 1500};
  for (unsigned minute = 1; minute < 59; minute++)
    append(service_name, board, 1000 * (hot - 1) + noise[minute * 7 % 10], minute * 60000);
}

#define SCOPE(name) "\"scope\":\"" name "\","
#define SIDES "a", "{service=\"old\"}", "b", "{service=\"new\"}", "from", "-1h"

/* A change of six points on one board is significant, and stays so beside a second board. */
static void more_boards_weaken_no_verdict_about_these(void **state) {
  static const char *const asked[] = {SIDES, NULL};
  (void)state;
  append_hour("old", 1, 20), append_hour("new", 1, 26);
  const char *text = ask_with(api_diff, asked);
  assert_has(text, SCOPE("these"));
  assert_has(text, "\"changed\":2,");
  append_hour("old", 2, 30);
  text = ask_with(api_diff, asked);
  assert_has(text, SCOPE("these"));
  assert_has(text, "\"b_unit\":\"stretches of time\"");
  append_hour("new", 2, 36);
  text = ask_with(api_diff, asked);
  assert_has(text, SCOPE("these"));
  assert_has(text, "\"a_unit\":\"stretches of time\"");
  assert_has(text, "\"changed\":2,");
}

/* With five boards a side, verdicts are about boards like them, unless a board is selected. */
static void the_scope_follows_what_is_asked(void **state) {
  static const char *const fleet[] = {SIDES, NULL};
  static const char *const these[] = {SIDES, "scope", "these", NULL};
  static const char *const named[] = {"a", "{service=\"old\"}", "b",
                                      "{service=\"new\",board=\"board-1\"}", NULL};
  static const char *const listed[] = {
      "a", "{service=\"old\"}", "b",
      "{service=\"new\",board=~\"board-0|board-1|board-2|board-3|board-4\"}", NULL};
  static const char *const like[] = {"a", "{service=\"old\"}", "b",
                                     "{service=\"new\",board=~\"board-.*\"}", NULL};
  (void)state;
  for (unsigned board = 0; board < 5; board++)
    append("old", board, 10000 + 4000 * board, 60000), append("new", board, 20000, 60000);
  assert_has(ask_with(api_diff, fleet), SCOPE("fleet"));
  assert_has(ask_with(api_diff, like), SCOPE("fleet"));
  assert_has(ask_with(api_diff, these), SCOPE("these"));
  assert_has(ask_with(api_diff, named), SCOPE("these"));
  assert_has(ask_with(api_diff, listed), SCOPE("these"));
}

/* Twice the boards with twice the CPU time take as much per board-hour, by a half longer range. */
/* The first number behind KEY.  Windows end to the millisecond, so it may be a bit off. */
static double number_at(const char *text, const char *key) {
  const char *at = strstr(text, key);
  assert_non_null(at);
  return strtod(at + strlen(key), NULL);
}

/* Two boards, each with the load of the single one. */
static void the_whole_is_per_board_and_hour_that_it_was_there(void **state) {
  static const char *const asked[] = {SIDES, NULL};
  (void)state;
  append("old", 0, 10000, 60000);
  append("new", 0, 10000, 60000), append("new", 1, 10000, 60000);
  const char *text = ask_with(api_diff, asked);
  assert_has(text, "\"unit\":\"board-hour\"");
  assert_true(fabs(number_at(text, "\"ratio\":") - 1) < 0.01);
}

/* One board was up for 40 minutes, the other for 20, with the same load: a release was rolled out
   meanwhile. */
static void who_was_there_for_less_time_takes_no_less(void **state) {
  static const char *const asked[] = {SIDES, NULL};
  (void)state;
  for (unsigned minute = 1; minute < 60; minute++)
    append(minute > 20 ? "old" : "new", 0, 10000, minute * 60000);
  const char *text = ask_with(api_diff, asked);
  assert_true(fabs(number_at(text, "\"ratio\":") - 1) < 0.05);
}

static void the_measure_orders_the_rows(void **state) {
  static const char *const asked[] = {SIDES, "measure", "cpu", "of", "self", NULL};
  (void)state;
  append("old", 0, 10000, 60000);
  append("new", 0, 10000, 60000), append("new", 0, 40000, 60000);
  const char *text = ask_with(api_diff, asked);
  assert_has(text, "\"measure\":\"cpu\",\"of\":\"self\",");
  /* 0x10 has 10 % and then 25 % of twice as much; 0x20, whose share falls, also takes more */
  assert_has(text, "\"functions\":[{\"name\":\"tool+0x20\"");
  assert_true(fabs(number_at(text, "\"change\":") - 0.6) < 0.01);
}

/* Of twice the requests half as much each. */
static void a_unit_that_is_named_divides_cpu_time(void **state) {
  static const char *const asked[] = {SIDES,  "unit",    "request", "a_units",
                                      "1000", "b_units", "2e3",     NULL};
  static const char *const shares[] = {SIDES,     "unit", "request", "a_units", "1000",
                                       "b_units", "2e3",  "measure", "share",   NULL};
  (void)state;
  append("old", 0, 10000, 60000), append("new", 0, 10000, 60000);
  const char *text = ask_with(api_diff, asked);
  assert_has(text, "\"measure\":\"cpu\",");
  assert_has(text, "\"units\":{\"unit\":\"request\",\"a\":1000,\"b\":2000,\"a_runs\":null,");
  assert_true(fabs(number_at(text, "\"ratio\":") - 0.5) < 1e-9);
  assert_has(text, "\"unit\":\"request\"}");
  assert_has(ask_with(api_diff, shares), "\"measure\":\"share\",");
}

/* With one board, the variation between boards is unknown. */
static void boards_like_one_board_are_refused(void **state) {
  static const char *const fleet[] = {SIDES, "scope", "fleet", NULL};
  static const char *const none[] = {
      "a", "{service=\"old\"}", "b", "{service=\"nobody\"}", "scope", "fleet", NULL};
  (void)state;
  append("old", 0, 10000, 60000), append("new", 0, 10000, 60000);
  const char *text = ask_with(api_diff, fleet);
  assert_int_equal(request.answer.status, 422);
  assert_has(text, "scope: fleet: each side has one board");
  ask_with(api_diff, none);
  assert_int_not_equal(request.answer.status, 422);
  append("old", 1, 10000, 60000);
  assert_has(ask_with(api_diff, fleet), SCOPE("fleet"));
}

/* The names of the collector's own units would give a fleet the verdicts of runs. */
static void a_unit_that_no_user_can_count_is_refused(void **state) {
  static const char *const cases[][5] = {
      {"run", "1", "1", "unit: ", "is counted without --unit"},
      {"board-hour", "1", "1", "unit: ", "is counted without --unit"},
      {"request", "1e-300", "1", "a_units: ", "is below 1e-6"},
      {"request", "1", "1e-7", "b_units: ", "is below 1e-6"},
  };
  (void)state;
  append("old", 0, 10000, 60000), append("new", 0, 10000, 60000);
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *const asked[] = {SIDES,       "unit",    cases[i][0], "a_units",
                                 cases[i][1], "b_units", cases[i][2], NULL};
    const char *text = ask_with(api_diff, asked);
    assert_int_equal(request.answer.status, 400);
    assert_has(text, cases[i][3]);
    assert_has(text, cases[i][4]);
  }
}

static void mistakes_name_their_parameter(void **state) {
  static const char *const cases[][3] = {{"a", "{x", "a"},
                                         {"b", "{x", "b"},
                                         {"match", "{x", "match"},
                                         {"a_from", "soon", "a_from"},
                                         {"b_to", "-9h", "from"},
                                         {"limit", "0", "limit"},
                                         {"measure", "time", "measure"},
                                         {"of", "all", "of"},
                                         {"scope", "fleets", "scope"},
                                         {"unit", "request", "a_units"},
                                         {"a_units", "1", "unit"}};
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
      cmocka_unit_test_setup_teardown(more_boards_weaken_no_verdict_about_these, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_scope_follows_what_is_asked, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_whole_is_per_board_and_hour_that_it_was_there, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(who_was_there_for_less_time_takes_no_less, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_measure_orders_the_rows, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_unit_that_is_named_divides_cpu_time, set_up, tear_down),
      cmocka_unit_test_setup_teardown(boards_like_one_board_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_unit_that_no_user_can_count_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(mistakes_name_their_parameter, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
