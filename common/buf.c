/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte buffer. Encoders append in long runs, and checking each append would obscure them.
   So a failure is remembered in `failed`, later appends do nothing, and the user of the bytes
   checks once. A failed buffer keeps its content; buf_clear makes it usable again.

   Growth doubles, so appending n bytes one by one is O(n). There is no shrinking: a buffer lives
   for one batch, frame or answer. The caller sets the limit, depending on the content. */
#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Most control frames and lines fit, so they need one allocation. */
enum { BUF_FIRST_BYTES = 256 };

static bool grow(struct buf *buf, size_t needed) {
  size_t cap = buf->cap ? buf->cap : BUF_FIRST_BYTES;
  while (cap < needed) {
    if (cap > SIZE_MAX / 2) {
      cap = needed;
      break;
    }
    cap *= 2;
  }
  uint8_t *data = realloc(buf->data, cap);
  if (data == NULL) return false;
  buf->data = data;
  buf->cap = cap;
  return true;
}

void buf_fini(struct buf *buf) {
  free(buf->data);
  *buf = (struct buf){0};
}

void buf_clear(struct buf *buf) {
  buf->len = 0;
  buf->failed = buf->is_full = false;
}

uint8_t *buf_reserve(struct buf *buf, size_t len) {
  if (buf->failed) return NULL;
  bool is_too_big = len > SIZE_MAX - buf->len;
  size_t needed = buf->len + len;
  buf->is_full = buf->limit > 0 && (is_too_big || needed > buf->limit);
  if (is_too_big || buf->is_full ||
      ((needed > buf->cap || buf->data == NULL) && !grow(buf, needed))) {
    buf->failed = true;
    return NULL;
  }
  return buf->data + buf->len;
}

void buf_append(struct buf *buf, const void *data, size_t len) {
  if (len == 0) return;
  uint8_t *to = buf_reserve(buf, len);
  if (to == NULL) return;
  memcpy(to, data, len);
  buf->len += len;
}

void buf_append_byte(struct buf *buf, uint8_t byte) {
  uint8_t *to = buf_reserve(buf, 1);
  if (to == NULL) return;
  *to = byte;
  buf->len++;
}

void buf_append_string(struct buf *buf, const char *text) {
  buf_append(buf, text, strlen(text));
}

void buf_printf(struct buf *buf, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int len = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (len < 0) {
    buf->failed = true;
    return;
  }
  uint8_t *to = buf_reserve(buf, (size_t)len + 1);
  if (to == NULL) return;
  va_start(args, format);
  vsnprintf((char *)to, (size_t)len + 1, format, args);
  va_end(args);
  buf->len += (size_t)len;
}

char *buf_text(struct buf *buf) {
  uint8_t *end = buf_reserve(buf, 1);
  if (end == NULL) return NULL;
  *end = '\0';
  return (char *)buf->data;
}
