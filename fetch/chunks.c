/* SPDX-License-Identifier: Apache-2.0 */
/* size [; text] CRLF  content CRLF  ...  0 CRLF  [trailer lines]  CRLF

   One state for each position in that line; outside of contents, one byte at a time. */
#include "chunks.h"

#include <errno.h>

enum state { SIZE, TEXT, CONTENT, CONTENT_CR, CONTENT_LF, TRAILER, DONE };
enum { SIZE_DIGITS_MAX = 15 };

static int digit_of(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* The line of a size has ended. */
static int end_size(struct chunks *chunks) {
  if (chunks->digits == 0) return -EBADMSG;
  chunks->state = chunks->left > 0 ? CONTENT : TRAILER;
  chunks->digits = 0;
  chunks->passed = 0;
  return 0;
}

static int step_size(struct chunks *chunks, uint8_t c) {
  int digit = digit_of(c);
  if (c == '\n') return end_size(chunks);
  if (digit < 0) {
    chunks->state = TEXT;
    return chunks->digits > 0 && (c == ';' || c == '\r' || c == ' ' || c == '\t') ? 0 : -EBADMSG;
  }
  if (chunks->digits++ == SIZE_DIGITS_MAX) return -EBADMSG;
  chunks->left = chunks->left * 16 + (uint64_t)digit;
  return 0;
}

static int step_trailer(struct chunks *chunks, uint8_t c) {
  if (c == '\n' && !chunks->has_text)
    chunks->state = DONE;
  else if (c != '\r')
    chunks->has_text = c != '\n';
  return 0;
}

static int step(struct chunks *chunks, uint8_t c) {
  if (chunks->state != CONTENT_CR && chunks->state != CONTENT_LF &&
      chunks->passed++ == CHUNKS_TEXT_BYTES_MAX)
    return -EBADMSG;
  switch ((enum state)chunks->state) {
  case SIZE:
    return step_size(chunks, c);
  case TEXT:
    return c == '\n' ? end_size(chunks) : 0;
  case CONTENT_CR:
    chunks->state = c == '\n' ? SIZE : CONTENT_LF;
    return c == '\n' || c == '\r' ? 0 : -EBADMSG;
  case CONTENT_LF:
    chunks->state = SIZE;
    return c == '\n' ? 0 : -EBADMSG;
  case TRAILER:
    return step_trailer(chunks, c);
  case CONTENT:
  case DONE:
    break;
  }
  return 0;
}

int chunks_next(struct chunks *chunks, struct span *bytes, struct span *ret) {
  while (bytes->len > 0 && chunks->state != DONE) {
    if (chunks->state == CONTENT) {
      size_t len = chunks->left < bytes->len ? (size_t)chunks->left : bytes->len;
      chunks->left -= len;
      if (chunks->left == 0) chunks->state = CONTENT_CR;
      span_take(bytes, len, ret);
      return 1;
    }
    int error = step(chunks, bytes->data[0]);
    if (error != 0) return error;
    *bytes = span_of(bytes->data + 1, bytes->len - 1);
  }
  return chunks->state == DONE ? 0 : -EAGAIN;
}
