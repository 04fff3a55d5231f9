/* SPDX-License-Identifier: Apache-2.0 */
#include "common/buf.h"
#include "fetch/url.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void urls_are_read_as_people_write_them(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool is_https;
    const char *host, *port, *path;
  } rows[] = {
      {"http://127.0.0.1:7480", false, "127.0.0.1", "7480", ""},
      {"http://127.0.0.1:7480/", false, "127.0.0.1", "7480", ""},
      {"HTTPS://fleet.example", true, "fleet.example", "443", ""},
      {"http://fleet.example", false, "fleet.example", "80", ""},
      {"https://fleet.example/profiles/", true, "fleet.example", "443", "/profiles"},
      {"http://[::1]:7480", false, "::1", "7480", ""},
      {"https://[fe80::1]", true, "fe80::1", "443", ""},
      {"localhost:7480", false, "localhost", "7480", ""},
      {"10.0.0.5:7480", true, "10.0.0.5", "7480", ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct url url;
    char why[128];
    assert_int_equal(url_parse(rows[i].text, &url, why, sizeof why), 0);
    assert_int_equal(url.is_https, rows[i].is_https);
    assert_string_equal(url.at.host, rows[i].host);
    assert_string_equal(url.at.port, rows[i].port);
    assert_string_equal(url.path, rows[i].path);
  }
}

static void what_is_no_url_is_refused_with_a_reason(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "",
      "fleet.example",
      "ftp://fleet.example",
      "http://",
      "http://user@fleet.example",
      "http://fleet.example:0",
      "http://fleet.example:http",
      "http://::1:7480",
      "http://fleet.example/a b",
      "http://fleet.example/a?b=c",
      "http://fleet.example/\r\nX: y",
      "http://127.0.0.1:7480@evil.example/",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct url url;
    char why[128] = "";
    assert_int_equal(url_parse(wrong[i], &url, why, sizeof why), -EINVAL);
    assert_true(why[0] != '\0');
  }
}

static void this_machine_is_known(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool is_ours;
  } rows[] = {{"http://127.9.9.9:1", true},       {"http://[::1]:1", true},
              {"http://LOCALHOST:1", true},       {"http://128.0.0.1:1", false},
              {"http://localhost.evil:1", false}, {"http://127.evil:1", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct url url;
    char why[128];
    assert_int_equal(url_parse(rows[i].text, &url, why, sizeof why), 0);
    assert_int_equal(url_is_loopback(&url), rows[i].is_ours);
  }
}

static void parameters_are_escaped(void **state) {
  (void)state;
  struct buf path = {0};
  buf_append_string(&path, "/api/v1/profile");
  url_add_parameter(&path, "match", "{service=\"a&b c\"}");
  url_add_parameter(&path, "from", NULL);
  url_add_parameter(&path, "to", "\xc3\xa9%");
  assert_string_equal(buf_text(&path),
                      "/api/v1/profile?match=%7Bservice%3D%22a%26b%20c%22%7D&to=%C3%A9%25");
  buf_fini(&path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(urls_are_read_as_people_write_them),
      cmocka_unit_test(what_is_no_url_is_refused_with_a_reason),
      cmocka_unit_test(this_machine_is_known),
      cmocka_unit_test(parameters_are_escaped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
