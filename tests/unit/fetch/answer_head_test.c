/* SPDX-License-Identifier: Apache-2.0 */
#include "fetch/answer_head.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int decode(const char *text, struct answer_head *ret) {
  return answer_head_decode(span_of_string(text), false, ret);
}

static void status_and_length_are_read(void **state) {
  (void)state;
  static const char text[] = "HTTP/1.1 200 OK\r\ncontent-LENGTH:  12 \r\nX: y\r\n\r\nhello";
  struct answer_head head;
  assert_int_equal(decode(text, &head), (int)sizeof text - 1 - 5);
  assert_int_equal(head.status, 200);
  assert_int_equal(head.framing, ANSWER_BY_LENGTH);
  assert_int_equal(head.length, 12);
  assert_true(head.is_persistent);
}

static void a_head_that_is_not_whole_is_waited_for(void **state) {
  (void)state;
  static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
  struct answer_head head;
  for (size_t len = 0; len < sizeof text - 1; len++)
    assert_int_equal(answer_head_decode(span_of(text, len), false, &head), -EAGAIN);
  assert_int_equal(decode(text, &head), (int)sizeof text - 1);
}

static void the_end_of_a_body_is_never_guessed(void **state) {
  (void)state;
  static const char *const doubtful[] = {
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n folded: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
      "HTTP/2 200 OK\r\n\r\n",
      "HTTP/1.1 2000 OK\r\n\r\n",
      "HTTP/1.1 abc\r\n\r\n",
      "ICY 200 OK\r\n\r\n",
      "\r\n\r\n",
  };
  struct answer_head head;
  for (size_t i = 0; i < sizeof doubtful / sizeof *doubtful; i++)
    assert_int_equal(decode(doubtful[i], &head), -EBADMSG);
}

static void framing_follows_the_rules(void **state) {
  (void)state;
  struct answer_head head;
  assert_true(decode("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", &head) > 0);
  assert_int_equal(head.framing, ANSWER_BY_CHUNKS);
  assert_true(decode("HTTP/1.1 200 OK\r\n\r\n", &head) > 0);
  assert_int_equal(head.framing, ANSWER_BY_CLOSE);
  assert_false(head.is_persistent);
  assert_true(decode("HTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\n", &head) > 0);
  assert_int_equal(head.framing, ANSWER_NO_BODY);
  assert_true(decode("HTTP/1.1 100 Continue\r\n\r\n", &head) > 0);
  assert_int_equal(head.framing, ANSWER_NO_BODY);
  assert_true(decode("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", &head) > 0);
  assert_false(head.is_persistent);
  assert_true(decode("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: Close\r\n\r\n", &head) >
              0);
  assert_false(head.is_persistent);
  static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n";
  assert_true(answer_head_decode(span_of_string(text), true, &head) > 0);
  assert_int_equal(head.framing, ANSWER_NO_BODY);
  assert_int_equal(head.length, 77);
}

static void a_head_without_end_is_refused(void **state) {
  (void)state;
  static char text[ANSWER_HEAD_BYTES_MAX + 1];
  struct answer_head head;
  memset(text, 'a', sizeof text);
  assert_int_equal(answer_head_decode(span_of(text, sizeof text), false, &head), -EBADMSG);
}

static void fields_are_found_by_name(void **state) {
  (void)state;
  struct span head =
      span_of_string("HTTP/1.1 200 OK\r\nUpload-Offset: 42\r\nEmpty:\r\n\r\nBody: 1\r\n");
  struct span value;
  assert_true(answer_head_field(head, "upload-offset", &value));
  assert_true(span_is_equal(value, span_of_string("42")));
  assert_true(answer_head_field(head, "Empty", &value));
  assert_int_equal(value.len, 0);
  assert_false(answer_head_field(head, "Body", &value));
  assert_false(answer_head_field(head, "Upload", &value));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(status_and_length_are_read),
      cmocka_unit_test(a_head_that_is_not_whole_is_waited_for),
      cmocka_unit_test(the_end_of_a_body_is_never_guessed),
      cmocka_unit_test(framing_follows_the_rules),
      cmocka_unit_test(a_head_without_end_is_refused),
      cmocka_unit_test(fields_are_found_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
