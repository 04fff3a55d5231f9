/* SPDX-License-Identifier: Apache-2.0 */
/* What a string on the wire may hold (valid UTF-8, no control characters), and a line for people.
 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include "span.h"

#include <stdio.h>

/* Returns whether TEXT may travel as it is.  Any thread. */
bool text_is_clean(struct span text);

/* Puts '?' in the place of each byte of TEXT that keeps it from being clean.  Any thread. */
void text_clean(char *text);

/* The same of what a terminal is sent: also of the marks that turn the direction of writing
   (U+202A-202E, U+2066-2069), with which one name looks like another.  Any thread. */
void text_show(char *text);

/* Returns whether a character of three bytes AT is such a mark.  Any thread. */
bool text_turns(const uint8_t *at);

enum { TEXT_LINE_BYTES = 8192 };

/* Prints what FORMAT makes, fit to be shown, and a line end to OUT: one line, whatever stands in
   the names in it, cut at TEXT_LINE_BYTES.  Any thread. */
void text_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
