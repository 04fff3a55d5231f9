/* SPDX-License-Identifier: Apache-2.0 */
/* Which results stop a release, which do not, and which cannot be judged; from a collector's JSON.
 */
#include "cli/diff_answer.h"
#include "cli/diff_choice.h"
#include "cli/diff_gate.h"
#include "common/buf.h"
#include "common/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct view_diff diff;

static void read_answer(const char *members, const char *rows) {
  static cJSON *answer;
  static char text[8192];
  cJSON_Delete(answer);
  free(diff.rows);
  snprintf(text, sizeof text, "{%s\"functions\":[%s]}", members, rows);
  answer = cJSON_Parse(text);
  assert_non_null(answer);
  assert_int_equal(diff_answer_read(answer, &diff), 0);
}

/* Reads ROWS with a threshold of two percent. */
static struct diff_gate gate_of(const char *members, const char *rows, bool is_both) {
  struct diff_gate gate;
  read_answer(members, rows);
  diff_gate_read(&diff, 2, is_both, NULL, &gate);
  return gate;
}

#define SELF(name, a, b, difference, verdict, doubt)                          \
  "{\"name\":\"" name "\",\"a\":" a ",\"b\":" b ",\"difference\":" difference \
  ",\"verdict\":\"" verdict "\",\"doubt\":" doubt
#define ROW(name, a, b, difference, verdict, doubt) SELF(name, a, b, difference, verdict, doubt) "}"
#define WHOLE(ratio, verdict)                                                          \
  "\"measure\":\"share\",\"of\":\"self\",\"whole\":{\"a\":2,\"b\":3,\"unit\":\"run\"," \
  "\"ratio\":" ratio ",\"verdict\":\"" verdict "\"},"

static void write_gate(const struct diff_gate *gate, struct buf *ret) {
  struct json json;
  json_init(&json, ret, SIZE_MAX);
  json_open(&json, '{');
  diff_gate_write(gate, &json);
  json_close(&json, '}');
}

static void an_increase_over_the_threshold_stops_it(void **state) {
  static const char rows[] = ROW("slower", "0.1", "0.2", "0.1", "changed", "null") "," ROW(
      "faster", "0.1", "0.05", "-0.05", "changed",
      "null") "," ROW("added", "0", "0.03", "0.03", "new",
                      "null") "," ROW("a_bit", "0.1", "0.11", "0.01", "changed", "null");
  (void)state;
  struct diff_gate gate = gate_of("", rows, false);
  assert_int_equal(diff_gate_status(&gate), 3);
  assert_int_equal(gate.changed, 2);
  assert_string_equal(gate.failed[0]->name, "slower");
  assert_string_equal(gate.failed[1]->name, "added");
}

#define OF_SHOP(callee) "{\"name\":\"" callee "\",\"module\":\"shop\"}"
#define THROUGH(name, difference, callee)                   \
  SELF(name, "0.1", "0.3", difference, "changed", "null")   \
  ",\"module\":\"shop\",\"through\":" callee ",\"total\":{" \
  "\"a\":0.1,\"b\":" difference "}}"

static void callers_of_what_has_grown_stand_behind_it(void **state) {
  static const char rows[] = THROUGH("main", "0.3", OF_SHOP("order")) "," THROUGH(
      "order", "0.29", OF_SHOP("parse")) "," THROUGH("parse", "0.28",
                                                     "null") "," THROUGH("other", "0.2",
                                                                         OF_SHOP("passed"));
  static const char each_other[] =
      THROUGH("ping", "0.3", OF_SHOP("pong")) "," THROUGH("pong", "0.3", OF_SHOP("ping"));
  struct buf json = {0};
  (void)state;
  struct diff_gate gate = gate_of("", rows, false);
  assert_int_equal(gate.changed, 4);
  for (unsigned i = 0; i < 3; i++) assert_int_equal(gate.through[i], 2);
  assert_int_equal(gate.through[3], 3);
  write_gate(&gate, &json);
  const char *text = buf_text(&json);
  assert_non_null(strstr(text, "{\"gate\":{\"limit\":0.02,\"both\":false,"));
  assert_non_null(strstr(text, "\"passed\":false,"));
  assert_non_null(strstr(text, "\"name\":\"parse\""));
  assert_non_null(strstr(text, "\"callers\":[\"main\",\"order\"]"));
  assert_null(strstr(text, "\"name\":\"order\""));
  buf_fini(&json);
  gate = gate_of("", each_other, false);
  for (unsigned i = 0; i < 2; i++) assert_int_equal(gate.through[gate.through[i]], gate.through[i]);
}

/* Another module has a function of the callee's name, and has nothing to do with it. */
static void a_function_is_explained_by_one_of_the_same_module_alone(void **state) {
  static const char rows[] =
      SELF("read", "0.1", "0.3", "0.2", "changed", "null") ",\"module\":\"libz\"}," THROUGH(
          "main", "0.19", OF_SHOP("read")) "," THROUGH("read", "0.18", "null");
  (void)state;
  struct diff_gate gate = gate_of("", rows, false);
  assert_int_equal(gate.changed, 3);
  assert_int_equal(gate.through[0], 0);
  assert_int_equal(gate.through[1], 2);
}

#define MOVED(difference, amount)                          \
  SELF("cost", "0", difference, difference, "new", "null") \
  ",\"moved\":{\"amount\":" amount ",\"how\":\"renamed\"," \
  "\"function\":\"price\"}}"

/* The rest of the increase counts. */
static void time_that_moved_stops_nothing(void **state) {
  (void)state;
  struct diff_gate gate = gate_of("", MOVED("0.3", "0.29"), false);
  assert_int_equal(diff_gate_status(&gate), 0);
  assert_int_equal(gate.moved.count, 1);
  assert_int_equal(gate.moved.rows[0]->moved.how, VIEW_RENAMED);
  assert_string_equal(gate.moved.rows[0]->moved.of.name, "price");
  gate = gate_of("", MOVED("0.3", "0.25"), false);
  assert_int_equal(diff_gate_status(&gate), 3);
  gate = gate_of("", MOVED("0.03", "0.014"), false); /* less than half of it */
  assert_int_equal(diff_gate_status(&gate), 3);
}

#define HALF_MOVED(error)                              \
  SELF("cost", "0.1", "0.3", "0.2", "changed", "null") \
  ",\"ci\":[0.09,0.31],\"moved\":{\"amount\":0.1,\"error\":" error ",\"how\":\"split\"}}"

/* The interval is also that wide for time that nothing sampled, which moves nothing. */
static void growth_beyond_the_sampling_error_is_no_time_that_moved(void **state) {
  (void)state;
  struct diff_gate gate = gate_of("", HALF_MOVED("0.02"), false);
  assert_int_equal(diff_gate_status(&gate), 3);
  assert_int_equal(gate.moved.count, 0);
  gate = gate_of("", HALF_MOVED("0.12"), false);
  assert_int_equal(diff_gate_status(&gate), 0);
  assert_int_equal(gate.moved.count, 1);
}

static void a_gate_that_passes_says_what_it_would_have_found(void **state) {
  static const char rows[] =
      SELF("large", "0.5", "0.5", "0", "unclear", "\"runs\"") ",\"detectable\":0.06}," SELF(
          "small", "0.01", "0.01", "0", "same",
          "null") ",\"detectable\":0.004}," SELF("[kernel]", "0.1", "0.1", "0", "unclear",
                                                 "\"clocks\"") ",\"detectable\":null}";
  struct buf text = {0}, json = {0};
  (void)state;
  struct diff_gate gate = gate_of(WHOLE("1", "same") "\"x\":1,", rows, false);
  assert_string_equal(gate.hardest->name, "large");
  assert_int_equal(gate.blind, 1);
  diff_gate_print(&gate, &text);
  assert_string_equal(buf_text(&text),
                      "gate: passed, --fail-over 2%; no increase of all CPU per run would have "
                      "been found, of a function by 6.0 points (large) or less, of 1 others none "
                      "(4 times of 5)\n");
  write_gate(&gate, &json);
  assert_non_null(strstr(buf_text(&json), "\"passed\":true,"));
  assert_non_null(strstr(buf_text(&json), "\"detectable\":{\"whole\":null,\"function\":0.06,"));
  buf_fini(&text);
  buf_fini(&json);
}

static void a_gate_without_samples_is_undecided(void **state) {
  struct diff_gate gate;
  struct buf text = {0};
  (void)state;
  read_answer("", ROW("slower", "0.1", "0.2", "0.1", "changed", "null"));
  diff_gate_read(&diff, 2, false, "no samples", &gate);
  assert_int_equal(diff_gate_status(&gate), 1);
  diff_gate_print(&gate, &text);
  assert_string_equal(buf_text(&text), "gate: undecided, --fail-over 2%\n");
  buf_fini(&text);
}

static void a_decrease_stops_it_only_where_both_are_asked_for(void **state) {
  static const char rows[] = ROW("gone", "0.1", "0", "-0.1", "gone", "null");
  (void)state;
  struct diff_gate gate = gate_of(WHOLE("0.5", "changed"), rows, false);
  assert_int_equal(diff_gate_status(&gate), 0);
  gate = gate_of(WHOLE("0.5", "changed"), rows, true);
  assert_int_equal(diff_gate_status(&gate), 3);
  assert_true(gate.is_whole_changed);
  assert_int_equal(gate.changed, 1);
}

static void an_increase_of_the_whole_stops_it(void **state) {
  (void)state;
  struct diff_gate gate = gate_of(WHOLE("1.5", "changed"), "", false);
  assert_int_equal(diff_gate_status(&gate), 3);
  gate = gate_of(WHOLE("1.01", "changed"), "", false);
  assert_int_equal(diff_gate_status(&gate), 0);
  gate = gate_of(WHOLE("1.5", "unclear"), "", false);
  assert_int_equal(diff_gate_status(&gate), 0);
  assert_true(gate.is_whole_unclear);
}

#define CPU(change, verdict) \
  ",\"cpu\":{\"a\":0.2,\"b\":0.3,\"change\":" change ",\"verdict\":\"" verdict "\"}}"

#define CPU_OF(low, high)                                                      \
  ",\"cpu\":{\"a\":0.2,\"b\":0.3,\"change\":0.01,\"change_ci\":[" low "," high \
  "],\"verdict\":\"unclear\",\"detectable\":0.13}}"

/* A share rises where others take less. */
static void a_share_that_others_have_moved_stops_nothing(void **state) {
  static const char larger[] = SELF("parse", "0.1", "0.2", "0.1", "changed", "null");
  char row[512];
  (void)state;
  for (unsigned i = 0; i < 4; i++) {
    static const char *const of[] = {CPU("0.001", "same"), CPU_OF("-0.1", "-0.05"),
                                     CPU_OF("0.001", "0.015"), CPU("0.1", "unclear")};
    snprintf(row, sizeof row, "%s%s", larger, of[i]);
    struct diff_gate gate = gate_of(WHOLE("1", "same"), row, true);
    assert_int_equal(diff_gate_status(&gate), i < 3 ? 0 : 3);
    assert_int_equal(gate.diluted.count, i < 3 ? 1 : 0);
  }
}

static void cpu_time_that_may_have_risen_is_unclear_and_no_dilution(void **state) {
  static const char larger[] = SELF("parse", "0.1", "0.2", "0.1", "changed", "null");
  static const char smaller[] = SELF("parse", "0.2", "0.1", "-0.1", "changed", "null");
  static const struct {
    const char *row, *cpu;
    bool is_unclear;
  } cases[] = {{larger, CPU_OF("-0.05", "0.13"), true},
               {larger, CPU_OF("-0.05", "0.019"), false},
               {larger, CPU_OF("null", "null"), true},
               {smaller, CPU_OF("-0.05", "0.02"), true},
               {smaller, CPU_OF("-0.019", "0.13"), false}};
  struct buf json = {0};
  char row[512];
  (void)state;
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(row, sizeof row, "%s%s", cases[i].row, cases[i].cpu);
    struct diff_gate gate = gate_of(WHOLE("1", "same"), row, true);
    assert_int_equal(diff_gate_status(&gate), 0);
    assert_int_equal(gate.cpu_unclear.count, cases[i].is_unclear);
    assert_int_equal(gate.diluted.count, !cases[i].is_unclear);
    buf_clear(&json);
    write_gate(&gate, &json);
    const char *wanted =
        cases[i].is_unclear ? "\"cpu_unclear\":{\"count\":1," : "\"diluted\":{\"count\":1,";
    assert_non_null(strstr(buf_text(&json), wanted));
  }
  buf_fini(&json);
}

/* CPU time is requested: the same row in another measure. */
static void a_gate_goes_by_the_measure_that_was_asked_for(void **state) {
  static const char row[] =
      SELF("parse", "0.1", "0.2", "0.1", "changed", "null") CPU("0.001", "same");
  (void)state;
  struct diff_gate gate =
      gate_of("\"measure\":\"cpu\",\"of\":\"total\",\"whole\":{\"a\":2,\"b\":2,\"unit\":\"run\"},",
              row, false);
  assert_int_equal(diff_gate_status(&gate), 0);
  assert_int_equal(gate.diluted.count, 0);
  const struct view_change *change = view_diff_change(&diff.options, &diff.rows[0]);
  assert_true(fabs(change->a - 0.1) < 1e-9 && fabs(change->b - 0.15) < 1e-9);
  assert_int_equal(change->verdict, VIEW_SAME);
}

static void what_is_unclear_stops_nothing_and_is_counted_by_its_doubt(void **state) {
  (void)state;
  struct diff_gate gate = gate_of(
      "",
      ROW("few", "0.1", "0.2", "0.1", "unclear", "null") "," ROW(
          "many", "0.1", "0.2", "0.1", "unclear",
          "\"many\"") "," ROW("[kernel]", "0.6", "0.7", "0.1", "unclear",
                              "\"clocks\"") "," ROW("brief", "0.1", "0.2", "0.1", "unclear",
                                                    "\"short\"") "," ROW("less", "0.2", "0.1",
                                                                         "-0.1", "unclear",
                                                                         "\"hidden\""),
      false);
  assert_int_equal(diff_gate_status(&gate), 0);
  assert_int_equal(gate.unclear[VIEW_NO_DOUBT].count, 1);
  assert_int_equal(gate.unclear[VIEW_MANY].count, 1);
  assert_int_equal(gate.unclear[VIEW_CLOCKS].count, 1);
  assert_int_equal(gate.unclear[VIEW_SHORT].count, 1);
  assert_int_equal(gate.unclear[VIEW_HIDDEN].count, 0);
}

/* Each is small, together they are most of the second side. */
static void a_release_of_which_most_has_no_name_does_not_pass(void **state) {
  (void)state;
  struct diff_gate gate =
      gate_of("",
              ROW("app+0x10 [01]", "0", "0.3", "0.3", "unclear", "\"apart\"") "," ROW(
                  "app+0x20 [01]", "0", "0.21", "0.21", "unclear",
                  "\"apart\"") "," ROW("main", "0.5", "0.49", "-0.01", "same", "null"),
              false);
  assert_int_equal(gate.unclear[VIEW_APART].count, 2);
  assert_int_equal(diff_gate_status(&gate), 1);
  gate = gate_of("", ROW("app+0x10 [01]", "0", "0.3", "0.3", "unclear", "\"apart\""), false);
  assert_int_equal(gate.unclear[VIEW_APART].count, 1);
  assert_int_equal(diff_gate_status(&gate), 0);
}

/* Another symbol table could give the same code other names. */
static void a_release_that_is_named_by_unlike_files_does_not_pass(void **state) {
  (void)state;
  struct diff_gate gate =
      gate_of("",
              ROW("parse", "0.6", "0.3", "-0.3", "unclear",
                  "\"unlike\"") "," ROW("inlined", "0", "0.3", "0.3", "unclear", "\"unlike\""),
              true);
  assert_int_equal(gate.unclear[VIEW_UNLIKE].count, 2);
  assert_int_equal(diff_gate_status(&gate), 1);
  gate = gate_of("", ROW("parse", "0.4", "0.3", "-0.1", "unclear", "\"unlike\""), false);
  assert_int_equal(diff_gate_status(&gate), 0);
}

static void a_change_is_one_whatever_else_has_no_name(void **state) {
  (void)state;
  struct diff_gate gate =
      gate_of("",
              ROW("app+0x10 [01]", "0.6", "0", "-0.6", "unclear",
                  "\"apart\"") "," ROW("slower", "0.1", "0.2", "0.1", "changed", "null"),
              false);
  assert_int_equal(diff_gate_status(&gate), 3);
}

static void numbers_that_do_not_exist_are_none(void **state) {
  (void)state;
  read_answer("\"measure\":\"share\",\"of\":\"total\",\"scope\":\"fleet\",\"basis\":{\"a_unit\":"
              "\"boards\",\"a_units\":1e300,\"a_seconds\":null,\"pairs\":-1},\"whole\":{\"ratio\":"
              "null,\"ci\":null,\"detectable\":null,\"verdict\":\"unclear\"},",
              "{\"name\":\"f\",\"total\":{\"a\":0.1,\"b\":0.2,\"ci\":null,\"detectable\":null,"
              "\"verdict\":\"a word of tomorrow\"}}");
  const struct view_change *change = view_diff_change(&diff.options, &diff.rows[0]);
  assert_int_equal(diff.scope, VIEW_FLEET);
  assert_int_equal(diff.basis.pairs, 0);
  assert_true(isnan(diff.whole.ratio) && isnan(diff.whole.low) && isinf(diff.whole.detectable));
  assert_true(isnan(change->low) && isinf(change->detectable));
  assert_int_equal(change->verdict, VIEW_UNCLEAR);
  struct diff_gate gate;
  diff_gate_read(&diff, 0, true, NULL, &gate);
  assert_int_equal(diff_gate_status(&gate), 0);
}

static void words_of_a_choice_are_known_and_belong_to_a_difference(void **state) {
  char *measure[] = {(char *)(uintptr_t) "report", (char *)(uintptr_t) "--measure=cpu"};
  char *both[] = {(char *)(uintptr_t) "report", (char *)(uintptr_t) "--both"};
  struct diff_choice choice = {.fail_over = -1};
  struct view_diff_options options;
  (void)state;
  assert_null(diff_choice_find_fault(&choice, true, 2, measure));
  assert_non_null(diff_choice_find_fault(&choice, false, 2, measure));
  assert_non_null(diff_choice_find_fault(&choice, true, 2, both));
  choice.fail_over = 0;
  assert_null(diff_choice_find_fault(&choice, true, 2, both));
  diff_choice_apply(&choice, &options);
  assert_true(options.measure == VIEW_CPU && options.of == VIEW_TOTAL);
  choice.measure = "share", choice.of = "self";
  diff_choice_apply(&choice, &options);
  assert_true(options.measure == VIEW_SHARES && options.of == VIEW_SELF);
  choice.unit = "request", choice.a_units = "1e3", choice.b_units = "2000";
  char *shares[] = {"diff", "--fail-over", "0.15"}, *percents[] = {"diff", "--fail-over=0.15%"};
  assert_non_null(diff_choice_find_fault(&choice, true, 3, shares));
  assert_null(diff_choice_find_fault(&choice, true, 2, percents));
  assert_null(diff_choice_find_fault(&choice, true, 1, both));
  diff_choice_apply(&choice, &options);
  assert_true(strcmp(options.units.name, "request") == 0 && options.units.b == 2000);
  choice.b_units = "0";
  assert_string_equal(diff_choice_find_fault(&choice, true, 1, both),
                      "--b-units: \"0\" is not above 0");
  choice.b_units = NULL;
  assert_string_equal(diff_choice_find_fault(&choice, true, 1, both),
                      "--b-units: is missing: how many units has that side?");
  choice.b_units = "1", choice.measure = "time";
  assert_string_equal(diff_choice_find_fault(&choice, true, 1, both), "--measure: share or cpu");
  choice.measure = NULL, choice.of = "all";
  assert_string_equal(diff_choice_find_fault(&choice, true, 1, both), "--of: self or total");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_increase_over_the_threshold_stops_it),
      cmocka_unit_test(callers_of_what_has_grown_stand_behind_it),
      cmocka_unit_test(a_function_is_explained_by_one_of_the_same_module_alone),
      cmocka_unit_test(time_that_moved_stops_nothing),
      cmocka_unit_test(growth_beyond_the_sampling_error_is_no_time_that_moved),
      cmocka_unit_test(cpu_time_that_may_have_risen_is_unclear_and_no_dilution),
      cmocka_unit_test(a_gate_that_passes_says_what_it_would_have_found),
      cmocka_unit_test(a_gate_without_samples_is_undecided),
      cmocka_unit_test(a_decrease_stops_it_only_where_both_are_asked_for),
      cmocka_unit_test(an_increase_of_the_whole_stops_it),
      cmocka_unit_test(a_share_that_others_have_moved_stops_nothing),
      cmocka_unit_test(a_gate_goes_by_the_measure_that_was_asked_for),
      cmocka_unit_test(what_is_unclear_stops_nothing_and_is_counted_by_its_doubt),
      cmocka_unit_test(a_release_of_which_most_has_no_name_does_not_pass),
      cmocka_unit_test(a_release_that_is_named_by_unlike_files_does_not_pass),
      cmocka_unit_test(a_change_is_one_whatever_else_has_no_name),
      cmocka_unit_test(numbers_that_do_not_exist_are_none),
      cmocka_unit_test(words_of_a_choice_are_known_and_belong_to_a_difference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
