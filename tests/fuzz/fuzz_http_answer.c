/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an HTTP server's answer: a head, then a chunked body, which must decode the same in
   one piece and byte by byte. A redirect must point only to a permitted target. */
#include "common/buf.h"
#include "fetch/answer_head.h"
#include "fetch/chunks.h"
#include "fetch/redirect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool is_true) {
  if (!is_true) abort();
}

/* Returns the result of decoding; CONTENT receives the data of the chunks. */
static int take_apart(struct span body, size_t step, struct buf *content) {
  struct chunks chunks = {0};
  int result = -EAGAIN;
  while (result == -EAGAIN && body.len > 0) {
    struct span part, piece;
    span_take(&body, step < body.len ? step : body.len, &part);
    while ((result = chunks_next(&chunks, &part, &piece)) == 1) {
      require(piece.len > 0);
      buf_append(content, piece.data, piece.len);
    }
  }
  return result;
}

static void follow(struct span location) {
  static const char *const servers[] = {"https://a.example", "http://a.example", "127.0.0.1:1"};
  char target[REDIRECT_TARGET_BYTES], why[128];
  char *text = strndup((const char *)location.data, location.len);
  require(text != NULL);
  for (unsigned i = 0; i < sizeof servers / sizeof servers[0]; i++) {
    struct url from, to;
    require(url_parse(servers[i], &from, why, sizeof why) == 0);
    int error = redirect_parse(&from, text, &to, target);
    require(error == 0 || error == -EPERM || error == -EINVAL);
    if (error != 0) continue;
    require(target[0] == '/' && to.path[0] == '\0' && strpbrk(target, " \r\n") == NULL);
    require(to.is_https || !from.is_https);
    require(url_is_loopback(&from) || !url_is_loopback(&to));
  }
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct answer_head head;
  struct span value;
  int result = answer_head_decode(span_of(data, len), len % 2 == 1, &head);
  size_t head_len = result > 0 ? (size_t)result : 0;
  require(result > 0 || result == -EAGAIN || result == -EBADMSG);
  if (result > 0) {
    require(head_len <= len && head_len <= ANSWER_HEAD_BYTES_MAX);
    require(head.status >= 100 && head.status <= 999);
    if (answer_head_field(span_of(data, head_len), "Content-Type", &value))
      require(value.len == 0 || (value.data > data && value.data + value.len <= data + head_len));
  }
  if (head_len > 0 && answer_head_field(span_of(data, head_len), "Location", &value)) follow(value);
  struct buf whole = {0}, slow = {0};
  struct span body = span_of(data + head_len, len - head_len);
  int at_once = take_apart(body, SIZE_MAX, &whole);
  require(at_once == take_apart(body, 1, &slow));
  require(span_is_equal(buf_span(&whole), buf_span(&slow)));
  buf_fini(&whole);
  buf_fini(&slow);
  return 0;
}
