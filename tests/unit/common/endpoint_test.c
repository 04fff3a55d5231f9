/* SPDX-License-Identifier: Apache-2.0 */
#include "common/endpoint.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void host_and_port_are_told_apart_at_the_last_colon(void **state) {
  (void)state;
  struct endpoint endpoint;
  assert_int_equal(endpoint_parse("10.0.0.5:7443", &endpoint), 0);
  assert_string_equal(endpoint.host, "10.0.0.5");
  assert_string_equal(endpoint.port, "7443");
  assert_int_equal(endpoint_parse("collector.example:65535", &endpoint), 0);
  assert_string_equal(endpoint.host, "collector.example");
  assert_string_equal(endpoint.port, "65535");
}

static void an_ipv6_address_loses_its_brackets(void **state) {
  (void)state;
  struct endpoint endpoint;
  assert_int_equal(endpoint_parse("[::1]:1", &endpoint), 0);
  assert_string_equal(endpoint.host, "::1");
  assert_string_equal(endpoint.port, "1");
}

static void what_is_neither_is_refused_and_nothing_is_written(void **state) {
  (void)state;
  struct endpoint endpoint = {"host", "1"};
  const char *bad[] = {"",        ":",    "a",        "a:",   ":1",   "a:0",     "a:-1",
                       "a:65536", "a:1x", "::1:7443", "[]:1", "[a:1", "a:000001"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(endpoint_parse(bad[i], &endpoint), -EINVAL);
  assert_string_equal(endpoint.host, "host");
  assert_string_equal(endpoint.port, "1");
}

static void a_host_may_be_as_long_as_fits(void **state) {
  (void)state;
  struct endpoint endpoint;
  char text[ENDPOINT_HOST_BYTES + 8];
  memset(text, 'a', sizeof text);
  memcpy(text + ENDPOINT_HOST_BYTES - 1, ":80", 4);
  assert_int_equal(endpoint_parse(text, &endpoint), 0);
  assert_int_equal(strlen(endpoint.host), ENDPOINT_HOST_BYTES - 1);
  memset(text, 'a', sizeof text);
  memcpy(text + ENDPOINT_HOST_BYTES, ":80", 4);
  assert_int_equal(endpoint_parse(text, &endpoint), -EINVAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(host_and_port_are_told_apart_at_the_last_colon),
      cmocka_unit_test(an_ipv6_address_loses_its_brackets),
      cmocka_unit_test(what_is_neither_is_refused_and_nothing_is_written),
      cmocka_unit_test(a_host_may_be_as_long_as_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
