/* SPDX-License-Identifier: Apache-2.0 */
/* Text for a terminal whose locale has ASCII alone.  Pure. */
#ifndef REPORT_ASCII_TEXT_H
#define REPORT_ASCII_TEXT_H

#include <stddef.h>

struct buf;

/* Puts a '?' in the place of each letter of TEXT, UTF-8, that is beyond ASCII, from byte FROM on:
   as many columns as it had letters. */
void ascii_text_keep(struct buf *text, size_t from);

#endif
