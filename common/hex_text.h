/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as text: two lower-case hexadecimal digits each. */
#ifndef COMMON_HEX_TEXT_H
#define COMMON_HEX_TEXT_H

#include "span.h"

struct buf;

/* Writes as many of BYTES as fit into TEXT_LEN (at least 1), and a NUL. Returns the length of the
   text without the NUL. Pure. */
size_t hex_text_print(struct span bytes, char *text, size_t text_len);

/* Appends all of BYTES. An allocation failure is remembered in RET. */
void hex_text_append(struct span bytes, struct buf *ret);

#endif
