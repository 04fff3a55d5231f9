/* SPDX-License-Identifier: Apache-2.0 */
#include "common/buf.h"
#include "fetch/chunks.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Feeds TEXT in pieces of STEP bytes. Returns the result of the last call; CONTENT gets the
   content, REST the number of bytes behind it. */
static int feed(const char *text, size_t step, struct buf *content, size_t *rest) {
  struct chunks chunks = {0};
  size_t len = strlen(text);
  int result = -EAGAIN;
  for (size_t at = 0; at < len && result == -EAGAIN; at += step) {
    struct span bytes = span_of(text + at, step < len - at ? step : len - at), piece;
    while ((result = chunks_next(&chunks, &bytes, &piece)) == 1)
      buf_append(content, piece.data, piece.len);
    *rest = bytes.len + (len - at > step ? len - at - step : 0);
  }
  return result;
}

static void contents_are_put_together_however_they_come(void **state) {
  (void)state;
  static const char text[] =
      "5\r\nhello\r\n6;name=value\r\n world\r\n1a\r\nabcdefghijklmnopqrstuvwxyz\r\n"
      "0\r\nTrailer: x\r\n\r\nNEXT";
  for (size_t step = 1; step < sizeof text; step++) {
    struct buf content = {0};
    size_t rest = 0;
    assert_int_equal(feed(text, step, &content, &rest), 0);
    assert_string_equal(buf_text(&content), "hello worldabcdefghijklmnopqrstuvwxyz");
    assert_int_equal(rest, 4);
    buf_fini(&content);
  }
}

static void broken_chunks_are_refused(void **state) {
  (void)state;
  static const char *const broken[] = {
      "\r\n",
      "g\r\n",
      "5\r\nhelloX",
      "5\r\nhello\rX",
      "-1\r\n",
      "1000000000000000\r\n",
      " 5\r\nhello\r\n",
      "0x5\r\nhello\r\n",
  };
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    struct buf content = {0};
    size_t rest;
    assert_int_equal(feed(broken[i], 3, &content, &rest), -EBADMSG);
    buf_fini(&content);
  }
}

static void endless_text_is_refused(void **state) {
  (void)state;
  struct chunks size = {0}, trailer = {0};
  struct span piece, bytes = span_of_string("1;");
  static char text[CHUNKS_TEXT_BYTES_MAX + 2];
  memset(text, 'x', sizeof text);
  assert_int_equal(chunks_next(&size, &bytes, &piece), -EAGAIN);
  bytes = span_of(text, sizeof text);
  assert_int_equal(chunks_next(&size, &bytes, &piece), -EBADMSG);
  bytes = span_of_string("0\r\n");
  assert_int_equal(chunks_next(&trailer, &bytes, &piece), -EAGAIN);
  bytes = span_of(text, sizeof text);
  assert_int_equal(chunks_next(&trailer, &bytes, &piece), -EBADMSG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contents_are_put_together_however_they_come),
      cmocka_unit_test(broken_chunks_are_refused),
      cmocka_unit_test(endless_text_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
