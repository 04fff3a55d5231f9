/* SPDX-License-Identifier: Apache-2.0 */
/* A link to a run holds its service and labels, whatever they are called, and the seconds that it
   took. */
#include "cli/run_url.h"
#include "common/buf.h"
#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect_labels(const char *service, const char *labels, struct run_span span,
                          const char *url) {
  const struct run_names names = {service, labels};
  struct buf text = {0};
  run_url_print("http://h:1/", &names, span, &text);
  assert_string_equal(buf_text(&text), url);
  buf_fini(&text);
}

static void expect(const char *service, struct run_span span, const char *url) {
  expect_labels(service, "", span, url);
}

static void a_run_is_its_service_between_whole_seconds(void **state) {
  (void)state;
  expect("shop", (struct run_span){100 * NS_PER_SECOND + 1, 103 * NS_PER_SECOND + 1},
         "http://h:1/?view=profile&match=%7Bservice%3D%22shop%22%7D&from=100&to=104");
}

static void a_service_with_letters_of_the_address_and_the_selector_is_escaped(void **state) {
  (void)state;
  expect("a\"b\\&=é", (struct run_span){NS_PER_SECOND, NS_PER_SECOND},
         "http://h:1/?view=profile&match=%7Bservice%3D%22a%5C%22b%5C%5C%26%3D%C3%A9%22%7D"
         "&from=1&to=2");
}

static void runs_of_one_service_are_told_apart_by_their_labels(void **state) {
  (void)state;
  const struct run_span span = {NS_PER_SECOND, NS_PER_SECOND};
  expect_labels("shop", "stage=test\nnote=a=\"b\"", span,
                "http://h:1/?view=profile&match=%7Bservice%3D%22shop%22%2Cstage%3D%22test%22%2C"
                "note%3D%22a%3D%5C%22b%5C%22%22%7D&from=1&to=2");
  expect_labels("shop", "uid=5\nstage=", span, /* the first is the daemon's to say */
                "http://h:1/?view=profile&match=%7Bservice%3D%22shop%22%2Cstage%3D%22%22%7D"
                "&from=1&to=2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_is_its_service_between_whole_seconds),
      cmocka_unit_test(a_service_with_letters_of_the_address_and_the_selector_is_escaped),
      cmocka_unit_test(runs_of_one_service_are_told_apart_by_their_labels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
