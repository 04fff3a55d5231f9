/* SPDX-License-Identifier: Apache-2.0 */
#include "http/gate.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];
static struct access *access_db;

static int set_up(void **state) {
  (void)state;
  char error[256];
  snprintf(dir, sizeof dir, "/tmp/gate-test-XXXXXX");
  if (mkdtemp(dir) == NULL) return -1;
  return access_open(dir, &access_db, error, sizeof error);
}

static int tear_down(void **state) {
  (void)state;
  char command[96];
  access_close(access_db);
  snprintf(command, sizeof command, "rm -rf %s", dir);
  return system(command);
}

static struct gate_visitor at_home(void) {
  return (struct gate_visitor){.server_is_loopback = true,
                               .peer_is_loopback = true,
                               .is_read = true,
                               .host = span_of_string("localhost:7480")};
}

static int check(const struct gate_visitor *visitor, enum role role) {
  const char *why = NULL;
  struct gate_visitor again = *visitor;
  int status = gate_check(access_db, visitor, role, &why);
  assert_int_equal(status != 0, why != NULL);
  if (status != GATE_LOOK_UP) return status;
  gate_look_up(access_db, visitor->authorization);
  again.was_looked_up = true;
  return gate_check(access_db, &again, role, &why);
}

static int check_token(struct gate_visitor visitor, enum role of_token, enum role wanted) {
  char token[ACCESS_TOKEN_BYTES], field[ACCESS_TOKEN_BYTES + 16];
  uint8_t fingerprint[32] = {0};
  assert_int_equal(access_token_make(access_db, of_token, NULL, 60000000000ULL, fingerprint, token),
                   0);
  snprintf(field, sizeof field, "Bearer %s", token);
  visitor.authorization = span_of_string(field);
  return check(&visitor, wanted);
}

static void hosts_of_this_machine_are_known(void **state) {
  (void)state;
  static const char *const ours[] = {"localhost",   "LocalHost:1", "127.0.0.1",  "127.0.0.1:7480",
                                     "127.9.8.7:1", "[::1]",       "[::1]:7480", "localhost:"};
  static const char *const others[] = {"",
                                       "example.org",
                                       "localhost.example.org",
                                       "127.0.0.1.example.org",
                                       "127.0.0.1:80.example.org",
                                       "127.1",
                                       "0.0.0.0",
                                       "[::2]",
                                       "[::1]x",
                                       "[::1",
                                       "::1",
                                       "localhost:123456",
                                       "localhost:80:80",
                                       "128.0.0.1"};
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    assert_true(gate_is_loopback_host(span_of_string(ours[i])));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(gate_is_loopback_host(span_of_string(others[i])));
}

static void addresses_of_this_machine_are_known(void **state) {
  (void)state;
  struct sockaddr_in four = {.sin_family = AF_INET};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6};
  inet_pton(AF_INET, "127.3.2.1", &four.sin_addr);
  assert_true(gate_is_loopback_address((struct sockaddr *)&four));
  inet_pton(AF_INET, "10.0.0.1", &four.sin_addr);
  assert_false(gate_is_loopback_address((struct sockaddr *)&four));
  inet_pton(AF_INET6, "::1", &six.sin6_addr);
  assert_true(gate_is_loopback_address((struct sockaddr *)&six));
  inet_pton(AF_INET6, "::ffff:127.0.0.1", &six.sin6_addr);
  assert_true(gate_is_loopback_address((struct sockaddr *)&six));
  inet_pton(AF_INET6, "::ffff:10.0.0.1", &six.sin6_addr);
  assert_false(gate_is_loopback_address((struct sockaddr *)&six));
}

static void reading_at_home_needs_no_token(void **state) {
  (void)state;
  struct gate_visitor visitor = at_home();
  assert_int_equal(check(&visitor, ROLE_READ), 0);
}

static void each_sign_of_a_stranger_asks_for_a_token(void **state) {
  (void)state;
  struct gate_visitor visitor = at_home();
  visitor.server_is_loopback = false;
  assert_int_equal(check(&visitor, ROLE_READ), 401);
  visitor = at_home();
  visitor.peer_is_loopback = false;
  assert_int_equal(check(&visitor, ROLE_READ), 401);
  visitor = at_home();
  visitor.is_forwarded = true;
  assert_int_equal(check(&visitor, ROLE_READ), 401);
  visitor = at_home();
  visitor.host = span_of_string("rebound.example.org");
  assert_int_equal(check(&visitor, ROLE_READ), 401);
  visitor = at_home();
  visitor.host = span_of(NULL, 0);
  assert_int_equal(check(&visitor, ROLE_READ), 401);
}

static int check_browser(const char *site, const char *origin) {
  struct gate_visitor visitor = at_home();
  visitor.fetch_site = span_of_string(site);
  visitor.origin = span_of_string(origin);
  return check(&visitor, ROLE_READ);
}

static void a_page_of_another_site_needs_a_token(void **state) {
  (void)state;
  assert_int_equal(check_browser("", ""), 0); /* no browser, or an old browser */
  assert_int_equal(check_browser("same-origin", ""), 0);
  assert_int_equal(check_browser("none", ""), 0); /* typed, or a bookmark */
  assert_int_equal(check_browser("same-origin", "http://localhost:7480"), 0);
  assert_int_equal(check_browser("", "HTTP://LocalHost:7480"), 0);
  assert_int_equal(check_browser("cross-site", ""), 401);
  assert_int_equal(check_browser("Same-Site", ""), 401);
  assert_int_equal(check_browser("", "null"), 401);
  assert_int_equal(check_browser("", "http://localhost:74801"), 401);
  assert_int_equal(check_browser("", "http://localhost"), 401);
  assert_int_equal(check_browser("", "https://example.org"), 401);
  assert_int_equal(check_browser("same-origin", "https://example.org"), 401);
  struct gate_visitor shown = at_home();
  shown.fetch_site = span_of_string("cross-site");
  shown.origin = span_of_string("https://example.org");
  assert_int_equal(check_token(shown, ROLE_READ, ROLE_READ), 0);
  assert_int_equal(check(&shown, ROLE_NONE), 0); /* the page itself may be linked to */
}

static uint64_t requester(int family, const char *address, const char *authorization) {
  struct sockaddr_in four = {.sin_family = AF_INET};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6};
  bool is_four = family == AF_INET;
  assert_int_equal(
      inet_pton(family, address, is_four ? (void *)&four.sin_addr : (void *)&six.sin6_addr), 1);
  return gate_requester(is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six,
                        span_of_string(authorization));
}

static void a_requester_is_a_token_or_an_address(void **state) {
  (void)state;
  uint64_t here = requester(AF_INET, "127.0.0.1", "");
  assert_int_equal(requester(AF_INET, "127.9.9.9", ""), here);
  assert_int_equal(requester(AF_INET6, "::1", ""), here);
  assert_int_not_equal(requester(AF_INET, "10.0.0.1", ""), here);
  assert_int_not_equal(requester(AF_INET, "10.0.0.1", ""), requester(AF_INET, "10.0.0.2", ""));
  assert_int_equal(requester(AF_INET6, "2001:db8::1", ""),
                   requester(AF_INET6, "2001:db8::ffff:2", ""));
  assert_int_not_equal(requester(AF_INET6, "2001:db8::1", ""),
                       requester(AF_INET6, "2001:db8:0:1::1", ""));
  assert_int_not_equal(requester(AF_INET6, "::ffff:10.0.0.1", ""),
                       requester(AF_INET6, "::ffff:10.0.0.2", ""));
  assert_int_equal(requester(AF_INET, "10.0.0.1", "Bearer x"),
                   requester(AF_INET, "10.0.0.2", "Bearer x"));
  assert_int_not_equal(requester(AF_INET, "10.0.0.1", "Bearer x"),
                       requester(AF_INET, "10.0.0.1", "Bearer y"));
}

static void writing_always_needs_a_token(void **state) {
  (void)state;
  struct gate_visitor visitor = at_home();
  visitor.is_read = false;
  assert_int_equal(check(&visitor, ROLE_SYMBOLS), 401);
  assert_int_equal(check(&visitor, ROLE_READ), 401);
}

static void who_may_write_debug_files_or_read_may_see_which_are_there(void **state) {
  (void)state;
  struct gate_visitor visitor = at_home(), stranger = {.is_read = true};
  assert_int_equal(check(&visitor, ROLE_SYMBOLS), 0);
  assert_int_equal(check(&stranger, ROLE_SYMBOLS), 401);
  assert_int_equal(check_token(stranger, ROLE_READ, ROLE_SYMBOLS), 0);
  assert_int_equal(check_token(stranger, ROLE_SYMBOLS, ROLE_SYMBOLS), 0);
  assert_int_equal(check_token(stranger, ROLE_INGEST, ROLE_SYMBOLS), 403);
}

static void open_rows_are_open_to_strangers(void **state) {
  (void)state;
  struct gate_visitor stranger = {0};
  assert_int_equal(check(&stranger, ROLE_NONE), 0);
}

static void a_token_is_good_for_its_role_and_admin_for_all(void **state) {
  (void)state;
  struct gate_visitor stranger = {.is_read = true};
  assert_int_equal(check_token(stranger, ROLE_READ, ROLE_READ), 0);
  stranger.is_read = false;
  assert_int_equal(check_token(stranger, ROLE_READ, ROLE_SYMBOLS), 403);
  stranger.is_read = true;
  assert_int_equal(check_token(stranger, ROLE_SYMBOLS, ROLE_READ), 403);
  assert_int_equal(check_token(stranger, ROLE_SYMBOLS, ROLE_SYMBOLS), 0);
  assert_int_equal(check_token(stranger, ROLE_INGEST, ROLE_READ), 403);
  assert_int_equal(check_token(stranger, ROLE_ADMIN, ROLE_READ), 0);
  assert_int_equal(check_token(stranger, ROLE_ADMIN, ROLE_SYMBOLS), 0);
}

static void a_bad_token_is_refused_even_at_home(void **state) {
  (void)state;
  static const char *const fields[] = {"Bearer nonsense", "Bearer ",    "Bearer",
                                       "Basic eDp5",      "Bearer a b", "Bearer  x"};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    struct gate_visitor visitor = at_home();
    visitor.authorization = span_of_string(fields[i]);
    assert_int_equal(check(&visitor, ROLE_READ), 401);
  }
}

static void an_endless_token_is_refused(void **state) {
  (void)state;
  static char field[4096] = "Bearer ";
  memset(field + 7, 'x', sizeof field - 8);
  struct gate_visitor visitor = at_home();
  visitor.authorization = span_of_string(field);
  assert_int_equal(check(&visitor, ROLE_READ), 401);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hosts_of_this_machine_are_known),
      cmocka_unit_test(addresses_of_this_machine_are_known),
      cmocka_unit_test(reading_at_home_needs_no_token),
      cmocka_unit_test(each_sign_of_a_stranger_asks_for_a_token),
      cmocka_unit_test(a_page_of_another_site_needs_a_token),
      cmocka_unit_test(a_requester_is_a_token_or_an_address),
      cmocka_unit_test(writing_always_needs_a_token),
      cmocka_unit_test(who_may_write_debug_files_or_read_may_see_which_are_there),
      cmocka_unit_test(open_rows_are_open_to_strangers),
      cmocka_unit_test(a_token_is_good_for_its_role_and_admin_for_all),
      cmocka_unit_test(a_bad_token_is_refused_even_at_home),
      cmocka_unit_test(an_endless_token_is_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
