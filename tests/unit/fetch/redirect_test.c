/* SPDX-License-Identifier: Apache-2.0 */
/* Permitted redirects. */
#include "fetch/redirect.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct url to;
static char target[REDIRECT_TARGET_BYTES];

static int follow(const char *from, const char *location) {
  struct url url;
  char why[128];
  memset(&to, 0, sizeof to);
  target[0] = '\0';
  assert_int_equal(url_parse(from, &url, why, sizeof why), 0);
  return redirect_parse(&url, location, &to, target);
}

static void a_path_is_asked_for_at_the_same_server(void **state) {
  (void)state;
  assert_int_equal(follow("https://a.example/debug", "/cache/x?key=1&more=%20"), 0);
  assert_string_equal(to.at.host, "a.example");
  assert_string_equal(to.path, "");
  assert_string_equal(target, "/cache/x?key=1&more=%20");
}

static void another_server_is_asked_as_it_says(void **state) {
  (void)state;
  assert_int_equal(follow("http://a.example", "HTTPS://cdn.example:8443/x/y"), 0);
  assert_true(to.is_https);
  assert_string_equal(to.at.host, "cdn.example");
  assert_string_equal(to.at.port, "8443");
  assert_string_equal(target, "/x/y");
  assert_int_equal(follow("http://127.0.0.1:1", "http://127.0.0.1:2/x"), 0);
  assert_int_equal(follow("http://127.0.0.1:1", "http://a.example/x"), 0);
}

static void nobody_is_sent_to_this_machine_or_out_of_tls(void **state) {
  static const char *const bad[] = {"http://127.0.0.1:7480/x", "http://localhost/x",
                                    "http://[::1]:80/x", "http://127.9.9.9/x"};
  (void)state;
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(follow("http://a.example", bad[i]), -EPERM);
  assert_int_equal(follow("https://a.example", "http://a.example/x"), -EPERM);
  assert_int_equal(follow("https://a.example", "https://127.0.0.1/x"), -EPERM);
}

static void what_is_no_address_is_refused(void **state) {
  static const char *const bad[] = {
      "",     "x/y",           "ftp://a.example/x", "//b.example/x", "http://a.example", "/x y",
      "/x#y", "/x\r\nHost: b", "http://u@b.ex/x",   "http:///x",     "https://"};
  char text[REDIRECT_TARGET_BYTES + 8];
  (void)state;
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(follow("http://a.example", bad[i]), -EINVAL);
  memset(text, 'x', sizeof text);
  text[0] = '/', text[sizeof text - 1] = '\0';
  assert_int_equal(follow("http://a.example", text), -EINVAL);
}

static void only_some_answers_say_where(void **state) {
  (void)state;
  assert_true(redirect_is(301) && redirect_is(302) && redirect_is(303) && redirect_is(307));
  assert_true(redirect_is(308));
  assert_false(redirect_is(200) || redirect_is(300) || redirect_is(304) || redirect_is(404));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_path_is_asked_for_at_the_same_server),
      cmocka_unit_test(another_server_is_asked_as_it_says),
      cmocka_unit_test(nobody_is_sent_to_this_machine_or_out_of_tls),
      cmocka_unit_test(what_is_no_address_is_refused),
      cmocka_unit_test(only_some_answers_say_where),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
