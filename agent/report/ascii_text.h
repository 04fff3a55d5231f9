/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces text to ASCII for terminals with an ASCII locale.  Pure. */
#ifndef REPORT_ASCII_TEXT_H
#define REPORT_ASCII_TEXT_H

#include <stddef.h>

struct buf;

/* Replaces each non-ASCII character of TEXT, UTF-8, by one '?' from byte FROM on; the number of
   columns stays the same. */
void ascii_text_keep(struct buf *text, size_t from);

#endif
