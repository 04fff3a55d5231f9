/* SPDX-License-Identifier: Apache-2.0 */
/* The output style of a table, by its destination. */
#ifndef CLI_TERMINAL_STYLE_H
#define CLI_TERMINAL_STYLE_H

#include "report/top_text.h"

/* Returns the style for LIMIT rows written to the file OUTPUT, or to stdout if that is NULL.  On a
   terminal: fitted to its width, and coloured unless NO_COLOR is set or TERM is dumb.  Otherwise:
   uncut and plain. */
struct top_text terminal_style(uint64_t limit, const char *output);

/* Replaces the characters of TEXT, a whole table, that STYLE does not permit. */
void terminal_style_letters(const struct top_text *style, struct buf *text);

#endif
