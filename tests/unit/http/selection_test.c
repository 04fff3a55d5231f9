/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clock.h"
#include "http/parameters.h"
#include "http/selection.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NOW_MS 1700000000000ULL

static int parse(const char *name, const char *value, struct selection *ret,
                 struct selection_fault *fault) {
  struct parameters parameters = {.count = name ? 1 : 0, .rows = {{name, value}}};
  return selection_parse(&parameters, NOW_MS * NS_PER_MS, ret, fault);
}

static void nothing_asked_is_the_last_hour_of_everything(void **state) {
  (void)state;
  struct selection selection;
  struct selection_fault fault;
  assert_int_equal(parse(NULL, NULL, &selection, &fault), 0);
  assert_null(selection.selector);
  assert_int_equal(selection.from_ms, NOW_MS - 3600000);
  assert_int_equal(selection.to_ms, NOW_MS);
  assert_int_equal(selection.limit, 100);
  assert_false(selection.has_limit);
  selection_fini(&selection);
}

static void times_are_relative_to_the_request(void **state) {
  (void)state;
  struct selection selection;
  struct selection_fault fault;
  assert_int_equal(parse("from", "-10m", &selection, &fault), 0);
  assert_int_equal(selection.from_ms, NOW_MS - 600000);
  assert_int_equal(parse("from", "1699999999.5", &selection, &fault), 0);
  assert_int_equal(selection.from_ms, NOW_MS - 500);
}

static void each_mistake_names_its_parameter(void **state) {
  (void)state;
  static const struct {
    const char *name, *value, *parameter;
  } cases[] = {
      {"from", "yesterday", "from"},
      {"to", "", "to"},
      {"from", "now+1h", "from"},
      {"to", "-2h", "from"},
      {"limit", "0", "limit"},
      {"limit", "100001", "limit"},
      {"limit", "-1", "limit"},
      {"limit", "1e3", "limit"},
      {"limit", "", "limit"},
      {"type", "heap", "type"},
      {"match", "{a=", "match"},
      {"match", "{a=~\"(\"}", "match"},
      {"limit", "99999999999999999999", "limit"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct selection selection;
    struct selection_fault fault = {0};
    if (parse(cases[i].name, cases[i].value, &selection, &fault) == 0)
      print_error("%s=%s was taken\n", cases[i].name, cases[i].value);
    assert_string_equal(fault.parameter, cases[i].parameter);
    assert_non_null(strstr(fault.detail, cases[i].parameter));
  }
}

static void limits_are_taken_up_to_the_largest(void **state) {
  (void)state;
  struct selection selection;
  struct selection_fault fault;
  assert_int_equal(parse("limit", "100000", &selection, &fault), 0);
  assert_int_equal(selection.limit, 100000);
  assert_true(selection.has_limit);
}

static void a_selector_is_parsed_and_freed(void **state) {
  (void)state;
  struct selection selection;
  struct selection_fault fault;
  assert_int_equal(parse("match", "{board=~\"edge-.*\"}", &selection, &fault), 0);
  assert_non_null(selection.selector);
  selection_fini(&selection);
  assert_null(selection.selector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_asked_is_the_last_hour_of_everything),
      cmocka_unit_test(times_are_relative_to_the_request),
      cmocka_unit_test(each_mistake_names_its_parameter),
      cmocka_unit_test(limits_are_taken_up_to_the_largest),
      cmocka_unit_test(a_selector_is_parsed_and_freed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
