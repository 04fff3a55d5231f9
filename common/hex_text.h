/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as text: two lower-case hexadecimal digits each. */
#ifndef COMMON_HEX_TEXT_H
#define COMMON_HEX_TEXT_H

#include "span.h"

struct buf;

/* Writes as many of BYTES as TEXT_LEN, at least 1, has room for, and a NUL.  Returns the length of
   the text without that.  Pure. */
size_t hex_text_print(struct span bytes, char *text, size_t text_len);

/* Appends all of BYTES.  Running out of memory is remembered in RET. */
void hex_text_append(struct span bytes, struct buf *ret);

#endif
