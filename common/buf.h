/* SPDX-License-Identifier: Apache-2.0 */
/* A growable byte buffer. All-zero is a valid empty buffer. A failed allocation, or a reached
   limit, is remembered: later appends do nothing, and `failed` is checked once at the end. */
#ifndef COMMON_BUF_H
#define COMMON_BUF_H

#include "span.h"

struct buf {
  uint8_t *data;
  size_t len;
  size_t cap;
  size_t limit; /* maximum number of bytes; 0: unlimited */
  bool failed;
  bool is_full; /* it failed because of its limit, not for lack of memory */
};

void buf_fini(struct buf *buf);

/* Empties BUF, keeping its memory and its limit. */
void buf_clear(struct buf *buf);

/* Makes room for LEN more bytes and returns their address (the caller then adds to len), or NULL if
   memory or the limit is exhausted. */
uint8_t *buf_reserve(struct buf *buf, size_t len);

void buf_append(struct buf *buf, const void *data, size_t len);
void buf_append_byte(struct buf *buf, uint8_t byte);
void buf_append_string(struct buf *buf, const char *text);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a NUL that len does not count and returns the text, or NULL if memory is short. */
char *buf_text(struct buf *buf);

static inline struct span buf_span(const struct buf *buf) {
  return (struct span){buf->data, buf->len};
}

#endif
