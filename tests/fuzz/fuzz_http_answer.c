/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what a server answers: a head, then a body in chunks, which must come out the same
   in one go and byte by byte. */
#include "common/buf.h"
#include "fetch/answer_head.h"
#include "fetch/chunks.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool is_true) {
  if (!is_true) abort();
}

/* Returns how it ended; CONTENT gets what was in the chunks. */
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
  struct buf whole = {0}, slow = {0};
  struct span body = span_of(data + head_len, len - head_len);
  int at_once = take_apart(body, SIZE_MAX, &whole);
  require(at_once == take_apart(body, 1, &slow));
  require(span_is_equal(buf_span(&whole), buf_span(&slow)));
  buf_fini(&whole);
  buf_fini(&slow);
  return 0;
}
