/* SPDX-License-Identifier: Apache-2.0 */
#include "http/head_guard.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define GET "GET / HTTP/1.1\r\nHost: a\r\n"

static int parse(const char *text, size_t len, struct http_head *head, struct head_fault *fault) {
  *fault = (struct head_fault){0};
  return head_guard_parse(span_of(text, len), head, fault);
}

static void assert_text(struct span span, const char *text) {
  assert_int_equal(span.len, strlen(text));
  assert_memory_equal(span.data, text, span.len);
}

static void assert_refused(const char *text, size_t len, int status, const char *detail) {
  struct http_head head;
  struct head_fault fault;
  int result = parse(text, len, &head, &fault);
  if (result != -EBADMSG) print_error("%s\n", text);
  assert_int_equal(result, -EBADMSG);
  assert_int_equal(fault.status, status);
  if (strstr(fault.detail, detail) == NULL) print_error("%s: %s\n", text, fault.detail);
  assert_non_null(strstr(fault.detail, detail));
}

static void a_good_head_is_taken_apart(void **state) {
  (void)state;
  static const char text[] = "PUT /api/v1/debug/ab?offset=1 HTTP/1.1\r\nhOST: [::1]:7480\r\n"
                             "Content-Length:  12 \r\nAuthorization: Bearer x\r\n"
                             "Expect: 100-Continue\r\nAccept-Encoding: br, gzip;q=0.5\r\n"
                             "Sec-Fetch-Site: cross-site\r\nOrigin: http://a.example\r\n"
                             "If-None-Match: \"e\"\r\nX-Other: \xc3\xa9\r\n\r\nBODY";
  struct http_head head;
  struct head_fault fault;
  assert_int_equal(parse(text, sizeof text - 1, &head, &fault), (int)sizeof text - 1 - 4);
  assert_text(head.method, "PUT");
  assert_text(head.path, "/api/v1/debug/ab");
  assert_text(head.query, "offset=1");
  assert_text(head.host, "[::1]:7480");
  assert_text(head.authorization, "Bearer x");
  assert_text(head.if_none_match, "\"e\"");
  assert_text(head.fetch_site, "cross-site");
  assert_text(head.origin, "http://a.example");
  assert_int_equal(head.content_length, 12);
  assert_true(head.has_length && head.has_host && head.is_persistent && head.accepts_gzip);
  assert_true(head.expects_continue);
  assert_false(head.is_forwarded);
}

static void a_head_that_has_not_ended_asks_for_more_at_every_byte(void **state) {
  (void)state;
  static const char text[] = "GET /x?y=z HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
  struct http_head head;
  struct head_fault fault;
  for (size_t len = 0; len < sizeof text - 1; len++)
    assert_int_equal(parse(text, len, &head, &fault), -EAGAIN);
  assert_int_equal(parse(text, sizeof text - 1, &head, &fault), sizeof text - 1);
}

static void what_follows_a_head_is_not_looked_at(void **state) {
  (void)state;
  static const char text[] = GET "\r\n\0\n\rnonsense";
  struct http_head head;
  struct head_fault fault;
  assert_int_equal(parse(text, sizeof text - 1, &head, &fault), sizeof GET "\r\n" - 1);
}

static void conflicting_framing_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *fields, *detail;
  } cases[] = {
      {"Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length is given twice"},
      {"Content-Length: 5\r\ncontent-length: 6\r\n", "Content-Length is given twice"},
      {"Content-Length: 5, 5\r\n", "Content-Length is not a number"},
      {"Content-Length: +5\r\n", "Content-Length is not a number"},
      {"Content-Length: -1\r\n", "Content-Length is not a number"},
      {"Content-Length: 0x5\r\n", "Content-Length is not a number"},
      {"Content-Length: 5 5\r\n", "Content-Length is not a number"},
      {"Content-Length:\r\n", "Content-Length is not a number"},
      {"Content-Length: 99999999999999999999\r\n", "Content-Length is not a number"},
      {"Transfer-Encoding: chunked\r\n", "Transfer-Encoding"},
      {"Transfer-Encoding: identity\r\n", "Transfer-Encoding"},
      {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding"},
      {"Transfer-Encoding : chunked\r\n", "space before its colon"},
      {"Content-Length\t: 5\r\n", "space before its colon"},
      {"Transfer-Encoding:\r\n chunked\r\n", "Transfer-Encoding"},
      {"X: a\r\n b\r\n", "folded"},
      {"X: a\r\n\tb\r\n", "folded"},
      {"Host: b\r\n", "Host is given twice"},
      {"Authorization: a\r\nAuthorization: b\r\n", "Authorization is given twice"},
      {": empty\r\n", "name"},
      {"No colon\r\n", "no colon"},
      {"Na(me: x\r\n", "name"},
      {"X: a\x01\r\n", "control character"},
      {"X: a\x7f\r\n", "control character"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    int len = snprintf(text, sizeof text, GET "%s\r\n", cases[i].fields);
    assert_refused(text, (size_t)len, 400, cases[i].detail);
  }
}

static void stray_line_ends_and_nul_are_refused_as_soon_as_they_come(void **state) {
  (void)state;
  static const char bare_lf[] = "GET / HTTP/1.1\nHost: a\n\n";
  static const char half_lf[] = "GET / HTTP/1.1\r\nHost: a\n";
  static const char bare_cr[] = "GET / HTTP/1.1\r\nHost: a\rX: b\r\n";
  static const char nul[] = "GET / HTTP/1.1\r\nHost: \0";
  static const char tls[] = "\x16\x03\x01\x00";
  assert_refused(bare_lf, sizeof bare_lf - 1, 400, "LF without CR");
  assert_refused(half_lf, sizeof half_lf - 1, 400, "LF without CR");
  assert_refused(bare_cr, sizeof bare_cr - 1, 400, "CR without LF");
  assert_refused(nul, sizeof nul - 1, 400, "NUL");
  assert_refused(tls, sizeof tls - 1, 400, "NUL");
}

static void bad_request_lines_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *line;
    int status;
    const char *detail;
  } cases[] = {
      {"", 400, "method"},
      {"GET", 400, "target"},
      {"GET  / HTTP/1.1", 400, "target"},
      {" GET / HTTP/1.1", 400, "method"},
      {"GET http://a/ HTTP/1.1", 400, "target"},
      {"OPTIONS * HTTP/1.1", 400, "target"},
      {"GET / HTTP/1.1 ", 400, "version of HTTP"},
      {"GET /  HTTP/1.1", 400, "version of HTTP"},
      {"GET /\ta HTTP/1.1", 400, "%-escaped"},
      {"GET /\xc3\xa9 HTTP/1.1", 400, "%-escaped"},
      {"GET /a#b HTTP/1.1", 400, "%-escaped"},
      {"GET / http/1.1", 400, "version of HTTP"},
      {"GET / HTTP/1.10", 400, "version of HTTP"},
      {"GET /", 400, "version of HTTP"},
      {"GET / HTTP/2.0", 505, "only versions"},
      {"GET / HTTP/1.2", 505, "only versions"},
      {"AVERYLONGMETHODNAME / HTTP/1.1", 400, "method"},
      {"GE\"T / HTTP/1.1", 400, "method"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[128];
    int len = snprintf(text, sizeof text, "%s\r\nHost: a\r\n\r\n", cases[i].line);
    assert_refused(text, (size_t)len, cases[i].status, cases[i].detail);
  }
}

static void host_is_wanted_from_http_1_1_only(void **state) {
  (void)state;
  static const char new[] = "GET / HTTP/1.1\r\n\r\n";
  static const char old[] = "GET / HTTP/1.0\r\n\r\n";
  static const char bad[] = "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n";
  struct http_head head;
  struct head_fault fault;
  assert_refused(new, sizeof new - 1, 400, "Host is missing");
  assert_refused(bad, sizeof bad - 1, 400, "Host is not");
  assert_true(parse(old, sizeof old - 1, &head, &fault) > 0);
  assert_false(head.has_host || head.is_persistent);
}

static void a_connection_lasts_until_close_is_among_its_options(void **state) {
  (void)state;
  static const char close[] = GET "Connection: TE,  Close\r\n\r\n";
  static const char keep[] = GET "Connection: keep-alive\r\n\r\n";
  struct http_head head;
  struct head_fault fault;
  assert_true(parse(close, sizeof close - 1, &head, &fault) > 0);
  assert_false(head.is_persistent);
  assert_true(parse(keep, sizeof keep - 1, &head, &fault) > 0);
  assert_true(head.is_persistent);
}

static void every_sign_of_a_proxy_is_noted(void **state) {
  (void)state;
  static const char *const signs[] = {"Forwarded: for=1",
                                      "Via: 1.1 x",
                                      "X-Real-IP: 1",
                                      "x-forwarded-for: 1",
                                      "X-Forwarded-Proto: https",
                                      "X-Forwarded: 1",
                                      "X-ForwardedFor: 1",
                                      "CF-Connecting-IP: 1",
                                      "true-client-ip: 1",
                                      "X-Client-IP: 1",
                                      "X-Cluster-Client-IP: 1",
                                      "X-Original-Host: a",
                                      "X-Original-Forwarded-For: 1"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    char text[128];
    struct http_head head;
    struct head_fault fault;
    int len = snprintf(text, sizeof text, GET "%s\r\n\r\n", signs[i]);
    assert_true(parse(text, (size_t)len, &head, &fault) > 0);
    assert_true(head.is_forwarded);
  }
}

static void names_that_only_resemble_a_proxys_are_not_signs(void **state) {
  (void)state;
  static const char *const others[] = {"X-Forward: 1", "X-Original: 1", "Forwarded-For: 1",
                                       "Viaduct: 1", "X-Real-IPs: 1"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    char text[128];
    struct http_head head;
    struct head_fault fault;
    int len = snprintf(text, sizeof text, GET "%s\r\n\r\n", others[i]);
    assert_true(parse(text, (size_t)len, &head, &fault) > 0);
    assert_false(head.is_forwarded);
  }
}

static void gzip_is_used_only_when_it_is_accepted(void **state) {
  (void)state;
  static const struct {
    const char *value;
    bool is_accepted;
  } cases[] = {
      {"gzip", true},           {"GZIP;q=1", true},   {"deflate", false}, {"gzip;q=0", false},
      {"gzip; q=0.000", false}, {"gzip;q=0.1", true}, {"x-gzip", false},  {"", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[128];
    struct http_head head;
    struct head_fault fault;
    int len = snprintf(text, sizeof text, GET "Accept-Encoding: %s\r\n\r\n", cases[i].value);
    assert_true(parse(text, (size_t)len, &head, &fault) > 0);
    assert_int_equal(head.accepts_gzip, cases[i].is_accepted);
  }
}

static void an_expectation_we_cannot_meet_is_417(void **state) {
  (void)state;
  static const char text[] = GET "Expect: a-pony\r\n\r\n";
  assert_refused(text, sizeof text - 1, 417, "100-continue");
}

static void a_long_head_is_refused_and_a_full_one_taken(void **state) {
  (void)state;
  static char text[HEAD_BYTES_MAX + 64];
  struct http_head head;
  struct head_fault fault;
  memset(text, 'a', sizeof text);
  memcpy(text, GET "X: ", sizeof GET "X: " - 1);
  assert_int_equal(parse(text, HEAD_BYTES_MAX, &head, &fault), -EAGAIN);
  assert_refused(text, HEAD_BYTES_MAX + 1, 400, "longer than 8 KiB");
  memcpy(text + HEAD_BYTES_MAX - 4, "\r\n\r\n", 4);
  assert_int_equal(parse(text, sizeof text, &head, &fault), HEAD_BYTES_MAX);
}

static void too_many_fields_are_refused(void **state) {
  (void)state;
  char text[1024] = GET;
  size_t len = sizeof GET - 1;
  for (int i = 1; i < HEAD_FIELDS_MAX; i++)
    len += (size_t)snprintf(text + len, sizeof text - len, "X: y\r\n");
  struct http_head head;
  struct head_fault fault;
  memcpy(text + len, "\r\n", 2);
  assert_true(parse(text, len + 2, &head, &fault) > 0);
  memcpy(text + len, "X: y\r\n\r\n", 8);
  assert_refused(text, len + 8, 400, "more than 64 fields");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_good_head_is_taken_apart),
      cmocka_unit_test(a_head_that_has_not_ended_asks_for_more_at_every_byte),
      cmocka_unit_test(what_follows_a_head_is_not_looked_at),
      cmocka_unit_test(conflicting_framing_is_refused),
      cmocka_unit_test(stray_line_ends_and_nul_are_refused_as_soon_as_they_come),
      cmocka_unit_test(bad_request_lines_are_refused),
      cmocka_unit_test(host_is_wanted_from_http_1_1_only),
      cmocka_unit_test(a_connection_lasts_until_close_is_among_its_options),
      cmocka_unit_test(every_sign_of_a_proxy_is_noted),
      cmocka_unit_test(names_that_only_resemble_a_proxys_are_not_signs),
      cmocka_unit_test(gzip_is_used_only_when_it_is_accepted),
      cmocka_unit_test(an_expectation_we_cannot_meet_is_417),
      cmocka_unit_test(a_long_head_is_refused_and_a_full_one_taken),
      cmocka_unit_test(too_many_fields_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
