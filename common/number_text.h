/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text and back, where there are millions of them. */
#ifndef COMMON_NUMBER_TEXT_H
#define COMMON_NUMBER_TEXT_H

#include "span.h"

struct buf;

enum {
  NUMBER_TEXT_DECIMAL_MAX = 20, /* digits of UINT64_MAX */
  NUMBER_TEXT_HEX_MAX = 16,
};

/* Appends VALUE in decimal; in hexadecimal, lower case, without 0x.  Running out of memory is
   remembered in RET. */
void number_text_decimal(uint64_t value, struct buf *ret);
void number_text_hex(uint64_t value, struct buf *ret);

/* Returns how many decimal digits VALUE has, without a branch.  Pure. */
unsigned number_text_digits(uint64_t value);

/* Reads TEXT, which is nothing but 1 to 16 hexadecimal digits of either case.  Returns false,
   touching nothing, when it is something else.  Pure. */
bool number_text_parse_hex(struct span text, uint64_t *ret);

#endif
