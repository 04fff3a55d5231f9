/* SPDX-License-Identifier: Apache-2.0 */
/* Shortens a function's name to fit a table. */
#ifndef REPORT_NAME_FIT_H
#define REPORT_NAME_FIT_H

#include <stddef.h>

struct buf;

enum { NAME_FIT_LEAST = 20 }; /* columns: a shorter name is not recognizable */

/* Returns the width of TEXT, UTF-8, in columns: its number of characters. */
size_t name_fit_columns(const char *text);

/* Appends NAME to RET in at most COLUMNS columns (at least NAME_FIT_LEAST; 0: unlimited).  It
   removes in order, as far as needed: the return type, the arguments, the template arguments, the
   middle.  Pure. */
void name_fit_print(const char *name, size_t columns, struct buf *ret);

#endif
