/* SPDX-License-Identifier: Apache-2.0 */
/* What a string on the wire may hold: valid UTF-8, no control characters. */
#ifndef PROTO_TEXT_H
#define PROTO_TEXT_H

#include "common/span.h"

/* Returns whether TEXT may travel as it is.  Any thread. */
bool text_is_clean(struct span text);

/* Puts '?' in the place of each byte of TEXT that keeps it from being clean.  Any thread. */
void text_clean(char *text);

/* The same of what a terminal is sent: also of the marks that turn the direction of writing
   (U+202A-202E, U+2066-2069), with which one name looks like another.  Any thread. */
void text_show(char *text);

#endif
