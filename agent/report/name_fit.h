/* SPDX-License-Identifier: Apache-2.0 */
/* A function's name in the room that a table has for it. */
#ifndef REPORT_NAME_FIT_H
#define REPORT_NAME_FIT_H

#include <stddef.h>

struct buf;

enum { NAME_FIT_LEAST = 20 }; /* columns: with fewer nobody knows a name again */

/* Returns how many columns TEXT, UTF-8, takes: its letters. */
size_t name_fit_columns(const char *text);

/* Appends NAME to RET, shortened where it takes more than COLUMNS (NAME_FIT_LEAST at least; 0: as
   many as it takes): without its return type, then without what its arguments are, then what its
   template arguments are, then without its middle.  Pure. */
void name_fit_print(const char *name, size_t columns, struct buf *ret);

#endif
