/* SPDX-License-Identifier: Apache-2.0 */
/* What stops a release, what does not, and what nobody can judge. */
#include "cli/diff_gate.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Reads ROWS, of a difference's functions, with a threshold of two points. */
static struct diff_gate gate_of(const char *rows) {
  static cJSON *answer;
  static char text[4096];
  struct diff_gate gate;
  cJSON_Delete(answer);
  snprintf(text, sizeof text, "{\"functions\":[%s]}", rows);
  answer = cJSON_Parse(text);
  assert_non_null(answer);
  diff_gate_read(answer, 2, &gate);
  return gate;
}

#define ROW(name, a, b, difference, verdict, doubt)                           \
  "{\"name\":\"" name "\",\"a\":" a ",\"b\":" b ",\"difference\":" difference \
  ",\"verdict\":\"" verdict "\",\"doubt\":" doubt "}"

static void a_change_over_the_threshold_stops_it(void **state) {
  (void)state;
  struct diff_gate gate = gate_of(ROW("slower", "0.1", "0.2", "0.1", "changed", "null") "," ROW(
      "faster", "0.1", "0.05", "-0.05", "changed", "null") "," ROW("a_bit", "0.1", "0.11", "0.01",
                                                                   "changed", "null"));
  assert_int_equal(diff_gate_status(&gate), 3);
  assert_int_equal(gate.changed, 2);
  assert_string_equal(gate.name, "slower");
}

static void what_may_be_chance_stops_nothing(void **state) {
  (void)state;
  struct diff_gate gate = gate_of(ROW("few", "0.1", "0.2", "0.1", "unclear", "null") "," ROW(
      "many", "0.1", "0.2", "0.1", "unclear", "\"many\"") "," ROW("[kernel]", "0.6", "0.7", "0.1",
                                                                  "unclear", "\"clocks\""));
  assert_int_equal(diff_gate_status(&gate), 0);
  assert_int_equal(gate.by_chance, 2);
  assert_int_equal(gate.by_clocks, 1);
  assert_int_equal(gate.apart, 0);
}

/* Each is small, together they are most of the second side. */
static void a_release_of_which_most_has_no_name_does_not_pass(void **state) {
  (void)state;
  struct diff_gate gate =
      gate_of(ROW("app+0x10 [01]", "0", "0.3", "0.3", "unclear", "\"apart\"") "," ROW(
          "app+0x20 [01]", "0", "0.21", "0.21", "unclear",
          "\"apart\"") "," ROW("main", "0.5", "0.49", "-0.01", "same", "null"));
  assert_int_equal(gate.apart, 2);
  assert_int_equal(gate.by_chance, 0);
  assert_int_equal(diff_gate_status(&gate), 1);
  gate = gate_of(ROW("app+0x10 [01]", "0", "0.3", "0.3", "unclear", "\"apart\""));
  assert_int_equal(gate.apart, 1);
  assert_int_equal(diff_gate_status(&gate), 0);
}

/* Another symbol table would say the same under other names. */
static void a_release_that_is_named_by_unlike_files_does_not_pass(void **state) {
  (void)state;
  struct diff_gate gate =
      gate_of(ROW("parse", "0.6", "0.3", "-0.3", "unclear",
                  "\"unlike\"") "," ROW("inlined", "0", "0.3", "0.3", "unclear", "\"unlike\""));
  assert_int_equal(gate.unlike, 2);
  assert_int_equal(gate.by_chance, 0);
  assert_int_equal(diff_gate_status(&gate), 1);
  gate = gate_of(ROW("parse", "0.4", "0.3", "-0.1", "unclear", "\"unlike\""));
  assert_int_equal(diff_gate_status(&gate), 0);
}

static void a_change_is_one_whatever_else_has_no_name(void **state) {
  (void)state;
  struct diff_gate gate =
      gate_of(ROW("app+0x10 [01]", "0.6", "0", "-0.6", "unclear",
                  "\"apart\"") "," ROW("slower", "0.1", "0.2", "0.1", "changed", "null"));
  assert_int_equal(diff_gate_status(&gate), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_change_over_the_threshold_stops_it),
      cmocka_unit_test(what_may_be_chance_stops_nothing),
      cmocka_unit_test(a_release_of_which_most_has_no_name_does_not_pass),
      cmocka_unit_test(a_release_that_is_named_by_unlike_files_does_not_pass),
      cmocka_unit_test(a_change_is_one_whatever_else_has_no_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
