/* SPDX-License-Identifier: Apache-2.0 */
/* Converts numbers to text and back, fast enough for millions. */
#ifndef COMMON_NUMBER_TEXT_H
#define COMMON_NUMBER_TEXT_H

#include "span.h"

struct buf;

enum {
  NUMBER_TEXT_DECIMAL_MAX = 20, /* digits of UINT64_MAX */
  NUMBER_TEXT_HEX_MAX = 16,
};

/* Append VALUE in decimal; in hexadecimal, lower case, without 0x. An allocation failure is
   remembered in RET. */
void number_text_decimal(uint64_t value, struct buf *ret);
void number_text_hex(uint64_t value, struct buf *ret);

/* Returns the number of decimal digits of VALUE, without a branch. Pure. */
unsigned number_text_digits(uint64_t value);

/* Reads TEXT, which must be 1 to 16 hexadecimal digits of either case. Returns false, with no
   change, otherwise. Pure. */
bool number_text_parse_hex(struct span text, uint64_t *ret);

#endif
