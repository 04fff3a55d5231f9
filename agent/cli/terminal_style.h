/* SPDX-License-Identifier: Apache-2.0 */
/* How a table is printed where it goes to. */
#ifndef CLI_TERMINAL_STYLE_H
#define CLI_TERMINAL_STYLE_H

#include "report/top_text.h"

/* Returns the style of LIMIT rows that go to the file OUTPUT, or to stdout when that is NULL: on a
   terminal fitted to its width and coloured unless NO_COLOR is set or TERM is dumb, else whole and
   plain. */
struct top_text terminal_style(uint64_t limit, const char *output);

/* Leaves of TEXT, a whole table, what STYLE shows. */
void terminal_style_letters(const struct top_text *style, struct buf *text);

#endif
