/* SPDX-License-Identifier: Apache-2.0 */
/* A module's call frame information, all of it -> rows. */
#ifndef TABLES_TABLE_CFI_H
#define TABLES_TABLE_CFI_H

#include "cfi_section.h"
#include "table_rows.h"

/* Tells ROWS of each function of SECTION, whose source was said already.  One that is malformed is
   left out and counted, with the reason; the rest goes on.  Returns 0, -ENOSPC or -ENOMEM. */
int table_cfi_read(const struct cfi_section *section, struct table_rows *rows,
                   struct table_report *report);

#endif
