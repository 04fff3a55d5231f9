/* SPDX-License-Identifier: Apache-2.0 */
/* Measured with tests/bench/numbers (figures in docs/performance.md). Division by a constant, a
   multiplication, yields two digits at once. Digits are counted first, so that they are written in
   their final place. One table gives the digit of each byte. */
#include "number_text.h"

#include "buf.h"

enum { NO_DIGIT = 0x10 };

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536"
    "37383940414243444546474849505152535455565758596061626364656667686970717273"
    "7475767778798081828384858687888990919293949596979899";

static const char hex_digits[] = "0123456789abcdef";

/* A byte that is no digit has a bit that no digit has. */
#define NONE_4 NO_DIGIT, NO_DIGIT, NO_DIGIT, NO_DIGIT
#define NONE_16 NONE_4, NONE_4, NONE_4, NONE_4
#define LETTERS NO_DIGIT, 10, 11, 12, 13, 14, 15, NO_DIGIT, NONE_4, NONE_4
static const uint8_t digits[256] = {NONE_16,  NONE_16, NONE_16, 0,       1,       2,       3,
                                    4,        5,       6,       7,       8,       9,       NO_DIGIT,
                                    NO_DIGIT, NONE_4,  LETTERS, NONE_16, LETTERS, NONE_16, NONE_16,
                                    NONE_16,  NONE_16, NONE_16, NONE_16, NONE_16, NONE_16, NONE_16};

/* The smallest number with one more digit than the index. */
static const uint64_t powers[NUMBER_TEXT_DECIMAL_MAX] = {0,
                                                         10,
                                                         100,
                                                         1000,
                                                         10000,
                                                         100000,
                                                         1000000,
                                                         10000000,
                                                         100000000,
                                                         1000000000,
                                                         10000000000,
                                                         100000000000,
                                                         1000000000000,
                                                         10000000000000,
                                                         100000000000000,
                                                         1000000000000000,
                                                         10000000000000000,
                                                         100000000000000000,
                                                         1000000000000000000,
                                                         10000000000000000000u};

/* Bits times log10(2) is the number of digits, or one less. */
unsigned number_text_digits(uint64_t value) {
  unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1), digits_below = bits * 1233 >> 12;
  return digits_below + (value >= powers[digits_below]);
}

void number_text_decimal(uint64_t value, struct buf *ret) {
  unsigned count = number_text_digits(value), at = count;
  uint8_t *to = buf_reserve(ret, count);
  if (to == NULL) return;
  for (; value >= 100; value /= 100) {
    at -= 2;
    memcpy(to + at, pairs + 2 * (value % 100), 2);
  }
  if (value >= 10)
    memcpy(to, pairs + 2 * value, 2);
  else
    to[0] = (uint8_t)('0' + value);
  ret->len += count;
}

void number_text_hex(uint64_t value, struct buf *ret) {
  unsigned count = (unsigned)(67 - __builtin_clzll(value | 1)) / 4;
  uint8_t *to = buf_reserve(ret, count);
  if (to == NULL) return;
  for (unsigned at = count; at-- > 0; value >>= 4) to[at] = (uint8_t)hex_digits[value & 15];
  ret->len += count;
}

bool number_text_parse_hex(struct span text, uint64_t *ret) {
  uint64_t value = 0;
  unsigned odd = 0;
  if (text.len == 0 || text.len > NUMBER_TEXT_HEX_MAX) return false;
  for (size_t i = 0; i < text.len; i++) {
    uint8_t digit = digits[text.data[i]];
    odd |= digit;
    value = value << 4 | (digit & 15);
  }
  if (odd & NO_DIGIT) return false;
  *ret = value;
  return true;
}
