/* SPDX-License-Identifier: Apache-2.0 */
#include "http/address.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_url(const char *text, const char *expected) {
  struct sockaddr_storage address = {0};
  socklen_t len = 0;
  char url[ADDRESS_URL_BYTES];
  assert_int_equal(address_parse(text, &address, &len), 0);
  address_print_url(&address, "http", NULL, url);
  assert_string_equal(url, expected);
}

static void addresses_read_back_as_urls(void **state) {
  (void)state;
  assert_url("127.0.0.1:7480", "http://127.0.0.1:7480/");
  assert_url("localhost:0", "http://127.0.0.1:0/");
  assert_url("[::1]:65535", "http://[::1]:65535/");
}

static void any_address_is_shown_as_this_machine(void **state) {
  (void)state;
  struct sockaddr_storage address = {0};
  socklen_t len = 0;
  char url[ADDRESS_URL_BYTES];
  assert_int_equal(address_parse("0.0.0.0:1", &address, &len), 0);
  address_print_url(&address, "https", NULL, url);
  assert_null(strstr(url, "0.0.0.0"));
  assert_int_equal(address_parse("[::]:1", &address, &len), 0);
  address_print_url(&address, "https", NULL, url);
  assert_null(strstr(url, "[::]"));
}

static void what_is_no_address_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"",
                                      ":1",
                                      "127.0.0.1",
                                      "127.0.0.1:",
                                      "127.0.0.1:65536",
                                      "1.2.3:4",
                                      "example:80",
                                      "::1:80",
                                      "[::1]",
                                      "[::1:80",
                                      "[1.2.3.4]:5",
                                      "127.0.0.1:+1",
                                      "127.0.0.1:1 ",
                                      "127.0.0.1:1:2",
                                      "[]:1",
                                      "[::1]]:1",
                                      "[:1"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct sockaddr_storage address;
    socklen_t len;
    if (address_parse(texts[i], &address, &len) == 0) print_error("%s was taken\n", texts[i]);
    assert_int_equal(address_parse(texts[i], &address, &len), -EINVAL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_read_back_as_urls),
      cmocka_unit_test(any_address_is_shown_as_this_machine),
      cmocka_unit_test(what_is_no_address_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
