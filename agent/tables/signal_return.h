/* SPDX-License-Identifier: Apache-2.0 */
/* Where signal handlers return to -> rules. */
#ifndef TABLES_SIGNAL_RETURN_H
#define TABLES_SIGNAL_RETURN_H

#include "elf_image.h"
#include "table_rows.h"

/* Tells of those in the code of IMAGE, unless a better source has; the source is UNWIND_PROLOGUES
   from now on.  Returns 0, or what table_rows_function or table_rows_put refused with. */
int signal_return_read(const struct elf_image *image, struct table_rows *rows);

#endif
