/* SPDX-License-Identifier: Apache-2.0 */
/* The format of build-ids, hashes and boot ids; numbers are in number_text. */
#include "hex_text.h"

#include "buf.h"

static void put(struct span bytes, char *to) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < bytes.len; i++) {
    to[2 * i] = digits[bytes.data[i] >> 4];
    to[2 * i + 1] = digits[bytes.data[i] & 15];
  }
}

size_t hex_text_print(struct span bytes, char *text, size_t text_len) {
  size_t room = (text_len - 1) / 2, count = bytes.len < room ? bytes.len : room;
  put(span_of(bytes.data, count), text);
  text[2 * count] = '\0';
  return 2 * count;
}

void hex_text_append(struct span bytes, struct buf *ret) {
  uint8_t *to = buf_reserve(ret, 2 * bytes.len);
  if (to == NULL) return;
  put(bytes, (char *)to);
  ret->len += 2 * bytes.len;
}
