/* SPDX-License-Identifier: Apache-2.0 */
#include "http/router.h"
#include "http/routes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int find(const char *method, const char *path, struct route_match *match) {
  return route_find(routes, routes_count, span_of_string(method), span_of_string(path), match);
}

static void each_row_is_found_by_its_own_path(void **state) {
  (void)state;
  struct route_match match;
  for (size_t i = 0; i < routes_count; i++) {
    assert_int_equal(find(routes[i].method, routes[i].path, &match), 0);
    assert_ptr_equal(match.route, &routes[i]);
  }
}

static void a_brace_stands_for_one_segment(void **state) {
  (void)state;
  struct route_match match;
  assert_int_equal(find("GET", "/api/v1/labels/service", &match), 0);
  assert_string_equal(match.route->path, "/api/v1/labels/{name}");
  assert_int_equal(match.argument.len, 7);
  assert_memory_equal(match.argument.data, "service", 7);
  assert_int_equal(find("GET", "/api/v1/labels/", &match), -ENOENT);
  assert_int_equal(find("GET", "/api/v1/labels/a/b", &match), -ENOENT);
}

static void a_brace_with_a_plus_stands_for_all_of_the_rest(void **state) {
  (void)state;
  struct route_match match;
  assert_int_equal(find("GET", "/buildid/ab/section/.text", &match), 0);
  assert_int_equal(match.argument.len, 16);
  assert_memory_equal(match.argument.data, "ab/section/.text", 16);
  assert_int_equal(find("GET", "/buildid/", &match), -ENOENT);
  assert_int_equal(find("GET", "/buildid", &match), -ENOENT);
}

static void head_is_answered_wherever_get_is(void **state) {
  (void)state;
  struct route_match match;
  assert_int_equal(find("HEAD", "/healthz", &match), 0);
  assert_string_equal(match.route->method, "GET");
  assert_int_equal(find("HEAD", "/api/v1/debug/ab", &match), 0);
  assert_string_equal(match.route->method, "HEAD");
}

static void a_wrong_method_learns_the_right_ones(void **state) {
  (void)state;
  struct route_match match;
  assert_int_equal(find("POST", "/api/v1/boards", &match), -EOPNOTSUPP);
  assert_string_equal(match.allow, "GET, HEAD");
  assert_int_equal(find("GET", "/api/v1/debug/ab", &match), -EOPNOTSUPP);
  assert_string_equal(match.allow, "HEAD, PUT");
  assert_int_equal(find("get", "/api/v1/boards", &match), -EOPNOTSUPP);
  assert_int_equal(find("OPTIONS", "/", &match), -EOPNOTSUPP);
}

static void a_path_has_one_spelling(void **state) {
  (void)state;
  static const char *const paths[] = {"/api/v1/boards/",
                                      "//api/v1/boards",
                                      "/api/v1/../v1/boards",
                                      "/api/v1/%62oards",
                                      "/API/v1/boards",
                                      "/api/v1",
                                      "",
                                      "/healthz/x",
                                      "/app.js.map",
                                      "/index.html"};
  struct route_match match;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    assert_int_equal(find("GET", paths[i], &match), -ENOENT);
}

static void a_parameter_is_taken_by_its_whole_name(void **state) {
  (void)state;
  struct route_match match;
  assert_int_equal(find("GET", "/api/v1/profile", &match), 0);
  assert_true(route_takes(match.route, "match"));
  assert_true(route_takes(match.route, "format"));
  assert_false(route_takes(match.route, "mat"));
  assert_false(route_takes(match.route, ""));
  assert_false(route_takes(match.route, "match from"));
  assert_int_equal(find("GET", "/healthz", &match), 0);
  assert_false(route_takes(match.route, "match"));
}

static void only_uploads_write_and_only_harmless_rows_are_open(void **state) {
  (void)state;
  for (size_t i = 0; i < routes_count; i++) {
    bool is_write = strcmp(routes[i].method, "PUT") == 0;
    if (is_write) assert_int_equal(routes[i].role, ROLE_SYMBOLS);
    bool is_of_files = strncmp(routes[i].path, "/api/v1/debug/", 14) == 0;
    assert_int_equal(routes[i].role == ROLE_SYMBOLS, is_of_files);
    if (routes[i].role == ROLE_NONE) assert_int_equal(routes[i].lane, LANE_LOOP);
    if (strncmp(routes[i].path, "/api/", 5) == 0) assert_int_not_equal(routes[i].role, ROLE_NONE);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_row_is_found_by_its_own_path),
      cmocka_unit_test(a_brace_stands_for_one_segment),
      cmocka_unit_test(a_brace_with_a_plus_stands_for_all_of_the_rest),
      cmocka_unit_test(head_is_answered_wherever_get_is),
      cmocka_unit_test(a_wrong_method_learns_the_right_ones),
      cmocka_unit_test(a_path_has_one_spelling),
      cmocka_unit_test(a_parameter_is_taken_by_its_whole_name),
      cmocka_unit_test(only_uploads_write_and_only_harmless_rows_are_open),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
