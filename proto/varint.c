/* SPDX-License-Identifier: Apache-2.0 */
/* Seven bits a byte, lowest first; the top bit is set if more bytes follow (LEB128). Most cells of
   a column are small, so the one-byte case comes first in both directions.

   Ten bytes hold 64 bits; the tenth may only have the last of them. Longer or larger forms are
   rejected, so that different lengths of input cannot overflow to the same value. Padded forms
   (0x80 0x00) are legal LEB128 and are accepted. */
#include "varint.h"
#include "common/buf.h"

#include <errno.h>

enum { VARINT_BYTES_MAX = 10 };

void varint_encode(struct buf *buf, uint64_t value) {
  uint8_t bytes[VARINT_BYTES_MAX];
  size_t len = 0;
  for (; value >= 0x80; value >>= 7) bytes[len++] = (uint8_t)(value | 0x80);
  bytes[len++] = (uint8_t)value;
  buf_append(buf, bytes, len);
}

int varint_decode(struct span *span, uint64_t *ret) {
  uint64_t value = 0;
  for (size_t i = 0; i < span->len && i < VARINT_BYTES_MAX; i++) {
    uint8_t byte = span->data[i];
    if (i == VARINT_BYTES_MAX - 1 && byte > 1) return -EBADMSG;
    value |= (uint64_t)(byte & 0x7f) << (7 * i);
    if (byte & 0x80) continue;
    span->data += i + 1;
    span->len -= i + 1;
    *ret = value;
    return 0;
  }
  return -EBADMSG;
}
