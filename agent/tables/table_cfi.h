/* SPDX-License-Identifier: Apache-2.0 */
/* Converts all of a module's call frame information to rows. */
#ifndef TABLES_TABLE_CFI_H
#define TABLES_TABLE_CFI_H

#include "cfi_section.h"
#include "table_rows.h"

/* Adds each function of SECTION to ROWS; the source was set before. A malformed function is left
   out and counted, with the reason. Returns 0, -ENOSPC or -ENOMEM. */
int table_cfi_read(const struct cfi_section *section, struct table_rows *rows,
                   struct table_report *report);

#endif
