/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers may be unaligned and truncated. After a failure a reader gets zeros, so that its steps
   need no check each. It must check is_over before it uses the results, and each loop over bytes
   must end with the bytes.

   LEB128 numbers may be padded with empty bytes, and compilers do so; bits beyond 64 are cut
   off. */
#include "cfi_cursor.h"

enum {
  POINTER_ULEB = 0x1,
  POINTER_U2 = 0x2,
  POINTER_U4 = 0x3,
  POINTER_U8 = 0x4,
  POINTER_SLEB = 0x9,
  POINTER_S2 = 0xa,
  POINTER_S4 = 0xb,
  POINTER_S8 = 0xc,
  POINTER_RELATIVE = 0x70,
  LEB_BITS_MAX = 64,
};

struct span cfi_bytes(struct cfi_cursor *cursor, uint64_t len) {
  if (len > cfi_left(cursor)) {
    cursor->is_over = true;
    cursor->at = cursor->end;
    return span_of(cursor->end, 0);
  }
  struct span bytes = {cursor->at, (size_t)len};
  cursor->at += len;
  return bytes;
}

uint64_t cfi_number(struct cfi_cursor *cursor, size_t len) {
  return span_number(cfi_bytes(cursor, len), cursor->is_big_endian);
}

/* RET_BITS: the number of bits written. */
static uint64_t read_leb(struct cfi_cursor *cursor, unsigned *ret_bits, bool *ret_is_negative) {
  uint64_t number = 0;
  unsigned bits = 0;
  uint8_t byte;
  do {
    byte = cfi_byte(cursor);
    if (bits < LEB_BITS_MAX) {
      number |= (uint64_t)(byte & 0x7f) << bits;
      bits += 7;
    }
  } while (byte & 0x80);
  *ret_bits = bits;
  *ret_is_negative = (byte & 0x40) != 0;
  return number;
}

uint64_t cfi_uleb(struct cfi_cursor *cursor) {
  unsigned bits;
  bool is_negative;
  if (cursor->at < cursor->end && *cursor->at < 0x80) return *cursor->at++;
  return read_leb(cursor, &bits, &is_negative);
}

int64_t cfi_sleb(struct cfi_cursor *cursor) {
  unsigned bits;
  bool is_negative;
  uint64_t number = read_leb(cursor, &bits, &is_negative);
  if (is_negative && bits < LEB_BITS_MAX) number |= UINT64_MAX << bits;
  return (int64_t)number;
}

static uint64_t extend(uint64_t number, unsigned bytes) {
  uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
  return (number ^ sign) - sign;
}

static bool read_value(struct cfi_cursor *cursor, const struct cfi_pointer *how, uint64_t *ret) {
  switch (how->encoding & CFI_POINTER_FORMAT) {
  case CFI_POINTER_WORD:
    *ret = cfi_number(cursor, how->word_bytes);
    return true;
  case POINTER_ULEB:
    *ret = cfi_uleb(cursor);
    return true;
  case POINTER_SLEB:
    *ret = (uint64_t)cfi_sleb(cursor);
    return true;
  case POINTER_U2:
    *ret = cfi_number(cursor, 2);
    return true;
  case POINTER_U4:
    *ret = cfi_number(cursor, 4);
    return true;
  case POINTER_S2:
    *ret = extend(cfi_number(cursor, 2), 2);
    return true;
  case POINTER_S4:
    *ret = extend(cfi_number(cursor, 4), 4);
    return true;
  case POINTER_U8:
  case POINTER_S8:
    *ret = cfi_number(cursor, 8);
    return true;
  default:
    return false;
  }
}

bool cfi_pointer_read(struct cfi_cursor *cursor, const struct cfi_pointer *how, uint64_t *ret) {
  uint64_t value;
  if (how->encoding & CFI_POINTER_INDIRECT || !read_value(cursor, how, &value)) return false;
  switch (how->encoding & POINTER_RELATIVE) {
  case 0:
    break;
  case CFI_POINTER_HERE:
    value += how->place;
    break;
  case CFI_POINTER_BASE:
    if (how->base == 0) return false;
    value += how->base;
    break;
  default:
    return false;
  }
  *ret = how->word_bytes == 4 ? value & UINT32_MAX : value;
  return true;
}
