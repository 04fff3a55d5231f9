/* SPDX-License-Identifier: Apache-2.0 */
#include "common/arena.h"
#include "http/parameters.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct arena arena;
static struct parameters parameters;
static char why[256];

static int set_up(void **state) {
  (void)state;
  arena_init(&arena, 1 << 20);
  parameters = (struct parameters){0};
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  arena_fini(&arena);
  return 0;
}

static int parse(const char *query) {
  return parameters_parse(span_of_string(query), &arena, &parameters, why, sizeof why);
}

static void escapes_and_plus_are_decoded(void **state) {
  (void)state;
  assert_int_equal(parse("match=%7Bservice%3d%22a+b%22%7d&from=-1h&empty=&flag"), 0);
  assert_string_equal(parameters_find(&parameters, "match"), "{service=\"a b\"}");
  assert_string_equal(parameters_find(&parameters, "from"), "-1h");
  assert_string_equal(parameters_find(&parameters, "empty"), "");
  assert_string_equal(parameters_find(&parameters, "flag"), "");
  assert_null(parameters_find(&parameters, "to"));
}

static void an_empty_query_and_empty_pairs_are_nothing(void **state) {
  (void)state;
  assert_int_equal(parse(""), 0);
  assert_int_equal(parameters.count, 0);
  assert_int_equal(parse("&&a=1&&"), 0);
  assert_int_equal(parameters.count, 1);
}

static void broken_escapes_are_refused_by_name(void **state) {
  (void)state;
  static const char *const values[] = {"%", "%2", "%zz", "%2z", "ok%", "%00", "a%00b"};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    char query[64];
    snprintf(query, sizeof query, "match=%s", values[i]);
    assert_int_equal(parse(query), -EINVAL);
    assert_non_null(strstr(why, "match: "));
  }
}

static void an_escape_ends_where_the_text_ends(void **state) {
  (void)state;
  assert_null(parameters_unescape(span_of("%7B", 2), true, &arena));
  assert_null(parameters_unescape(span_of("%7B", 1), true, &arena));
}

static void a_parameter_given_twice_is_refused(void **state) {
  (void)state;
  assert_int_equal(parse("a=1&b=2&a=1"), -EINVAL);
  assert_string_equal(why, "a: is given twice");
}

static void a_parameter_without_a_name_is_refused(void **state) {
  (void)state;
  assert_int_equal(parse("=1"), -EINVAL);
  assert_int_equal(parse("%00=1"), -EINVAL);
}

static void there_is_a_limit_to_parameters(void **state) {
  (void)state;
  char query[256] = "";
  size_t len = 0;
  for (int i = 0; i < PARAMETERS_MAX; i++)
    len += (size_t)snprintf(query + len, sizeof query - len, "p%d=1&", i);
  assert_int_equal(parse(query), 0);
  snprintf(query + len, sizeof query - len, "q=1");
  assert_int_equal(parse(query), -EINVAL);
  assert_non_null(strstr(why, "more than 20"));
}

static void plus_is_plain_in_a_path(void **state) {
  (void)state;
  assert_string_equal(parameters_unescape(span_of_string("a+b%2F"), false, &arena), "a+b/");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(escapes_and_plus_are_decoded, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_empty_query_and_empty_pairs_are_nothing, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(broken_escapes_are_refused_by_name, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_escape_ends_where_the_text_ends, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_parameter_given_twice_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_parameter_without_a_name_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(there_is_a_limit_to_parameters, set_up, tear_down),
      cmocka_unit_test_setup_teardown(plus_is_plain_in_a_path, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
