/* SPDX-License-Identifier: Apache-2.0 */
#include "hex_id.h"

#include <errno.h>

static int digit_of(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

int hex_id_parse(struct span text, struct hex_id *ret) {
  struct hex_id id = {.len = text.len / 2};
  if (text.len == 0 || text.len % 2 != 0 || id.len > sizeof id.bytes) return -EINVAL;
  for (size_t i = 0; i < id.len; i++) {
    int high = digit_of(text.data[2 * i]), low = digit_of(text.data[2 * i + 1]);
    if (high < 0 || low < 0) return -EINVAL;
    id.bytes[i] = (uint8_t)(high * 16 + low);
  }
  *ret = id;
  return 0;
}
