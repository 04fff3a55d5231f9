/* SPDX-License-Identifier: Apache-2.0 */
/* The permitted content of a string on the wire (valid UTF-8, no control characters), and output of
   lines for users. */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include "span.h"

#include <stdio.h>

/* True if TEXT may be sent unchanged.  Any thread. */
bool text_is_clean(struct span text);

/* Replaces each byte of TEXT that is not clean by '?'.  Any thread. */
void text_clean(char *text);

/* The same for terminals: also replaces the marks that change the direction of writing
   (U+202A-202E, U+2066-2069), with which one name imitates another.  Any thread. */
void text_show(char *text);

/* True if the three-byte character AT is a mark of that kind.  Any thread. */
bool text_turns(const uint8_t *at);

enum { TEXT_LINE_BYTES = 8192 };

/* Prints the result of FORMAT, cleaned as by text_show, and a line end to OUT: always one line, cut
   at TEXT_LINE_BYTES.  Any thread. */
void text_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
