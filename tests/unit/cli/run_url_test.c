/* SPDX-License-Identifier: Apache-2.0 */
/* A link to a run contains its service and labels with any characters, and its time in
   milliseconds. */
#include "cli/run_url.h"
#include "common/buf.h"
#include "common/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect_labels(const char *service, const char *labels, struct run_span span,
                          const char *url) {
  const struct run_names names = {service, labels, false};
  struct buf text = {0};
  run_url_print("http://h:1/", &names, span, &text);
  assert_string_equal(buf_text(&text), url);
  buf_fini(&text);
}

static void expect(const char *service, struct run_span span, const char *url) {
  expect_labels(service, "", span, url);
}

static void a_run_is_its_service_between_two_milliseconds(void **state) {
  (void)state;
  expect("shop",
         (struct run_span){100 * NS_PER_SECOND + 7 * NS_PER_MS + 1, 103 * NS_PER_SECOND - 1},
         "http://h:1/?view=profile&match=%7Bservice%3D%22shop%22%7D&from=100.007&to=103.000");
}

static void a_service_with_letters_of_the_address_and_the_selector_is_escaped(void **state) {
  (void)state;
  expect("a\"b\\&=é", (struct run_span){NS_PER_SECOND, NS_PER_SECOND},
         "http://h:1/?view=profile&match=%7Bservice%3D%22a%5C%22b%5C%5C%26%3D%C3%A9%22%7D"
         "&from=1.000&to=1.001");
}

static void runs_of_one_service_are_told_apart_by_their_labels(void **state) {
  (void)state;
  const struct run_span span = {NS_PER_SECOND, NS_PER_SECOND};
  expect_labels("shop", "stage=test\nnote=a=\"b\"", span,
                "http://h:1/?view=profile&match=%7Bservice%3D%22shop%22%2Cstage%3D%22test%22%2C"
                "note%3D%22a%3D%5C%22b%5C%22%22%7D&from=1.000&to=1.001");
  expect_labels("shop", "uid=5\nstage=", span, /* the daemon adds the first one */
                "http://h:1/?view=profile&match=%7Bservice%3D%22shop%22%2Cstage%3D%22%22%7D"
                "&from=1.000&to=1.001");
}

static void the_first_of_several_runs_at_once_has_no_number(void **state) {
  (void)state;
  const struct run_names names = {"shop", "a=b", true};
  struct buf text = {0};
  run_url_print("http://h:1/", &names, (struct run_span){0, 0}, &text);
  assert_string_equal(buf_text(&text), "http://h:1/?view=profile&match=%7Bservice%3D%22shop%22%2C"
                                       "a%3D%22b%22%2Crun%3D%22%22%7D&from=0.000&to=0.001");
  buf_fini(&text);
}

static void a_collector_without_a_page_is_asked_for_its_table(void **state) {
  (void)state;
  const struct run_names names = {"shop", "", false};
  struct buf text = {0};
  assert_true(run_url_has_page("http://h:1/"));
  assert_true(run_url_has_page("http://h:1/proxied/api/"));
  assert_false(run_url_has_page("http://h:1/api/v1/"));
  run_url_print("http://h:1/api/v1/", &names, (struct run_span){0, 0}, &text);
  assert_string_equal(
      buf_text(&text),
      "http://h:1/api/v1/profile?match=%7Bservice%3D%22shop%22%7D&from=0.000&to=0.001");
  buf_fini(&text);
}

static void expect_offer(const char *page_url, const char *offer) {
  const struct run_names names = {"s", "", false};
  struct buf text = {0};
  run_url_offer(page_url, &names, (struct run_span){0, 0}, &text);
  assert_string_equal(buf_text(&text), offer);
  buf_fini(&text);
}

/* A collector's address is untrusted text, and this line is copied into a shell. */
static void without_a_browser_or_a_page_a_command_shows_the_run(void **state) {
  (void)state;
#define RUN "match=%7Bservice%3D%22s%22%7D&from=0.000&to=0.001"
  char own[] = "/o p/fleetprof", *invoked = program_invocation_name;
  program_invocation_name = own;
  setenv("DISPLAY", ":0", 1);
  expect_offer("http://h:1/", "http://h:1/?view=profile&" RUN);
  expect_offer("http://h:1/api/v1/", "as text: '/o p/fleetprof' query -f flame "
                                     "'http://h:1/api/v1/profile?" RUN "'");
  setenv("DISPLAY", "", 1);
  unsetenv("WAYLAND_DISPLAY");
  program_invocation_name = (char[]){"fleetprof"};
  expect_offer("http://h:1/';w;'/",
               "as text: fleetprof query -f flame 'http://h:1/'\\'';w;'\\''/?view=profile&" RUN
               "'");
  program_invocation_name = invoked;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_is_its_service_between_two_milliseconds),
      cmocka_unit_test(a_service_with_letters_of_the_address_and_the_selector_is_escaped),
      cmocka_unit_test(runs_of_one_service_are_told_apart_by_their_labels),
      cmocka_unit_test(the_first_of_several_runs_at_once_has_no_number),
      cmocka_unit_test(a_collector_without_a_page_is_asked_for_its_table),
      cmocka_unit_test(without_a_browser_or_a_page_a_command_shows_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
