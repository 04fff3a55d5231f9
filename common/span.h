/* SPDX-License-Identifier: Apache-2.0 */
/* Borrowed bytes. A span never owns its data, and is valid as long as they are. */
#ifndef COMMON_SPAN_H
#define COMMON_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
  const uint8_t *data;
  size_t len;
};

static inline struct span span_of(const void *data, size_t len) {
  return (struct span){data, len};
}

static inline struct span span_of_string(const char *text) {
  return (struct span){(const uint8_t *)text, strlen(text)};
}

static inline bool span_is_equal(struct span a, struct span b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Takes the first LEN bytes of SPAN into RET. Returns false, with no change, if SPAN is shorter. */
static inline bool span_take(struct span *span, size_t len, struct span *ret) {
  if (span->len < len) return false;
  *ret = (struct span){span->data, len};
  span->data += len;
  span->len -= len;
  return true;
}

/* The number stored in BYTES, at most 8, in the given byte order. */
static inline uint64_t span_number(struct span bytes, bool is_big_endian) {
  uint64_t number = 0;
  if (is_big_endian)
    for (size_t i = 0; i < bytes.len; i++) number = number << 8 | bytes.data[i];
  else
    for (size_t i = bytes.len; i > 0; i--) number = number << 8 | bytes.data[i - 1];
  return number;
}

#endif
