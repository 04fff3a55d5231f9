/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of call frame information: each instruction changes the state of the caller's
   registers, or advances to a later address. */
#ifndef TABLES_CFI_PROGRAM_H
#define TABLES_CFI_PROGRAM_H

#include "cfi_section.h"
#include "table_rows.h"

/* Runs CIE's own program, which makes its initial state. Returns NULL, or the reason why it is
   rejected. */
const char *cfi_program_begin(const struct cfi_section *section, struct cfi_cie *cie);

/* Runs FUNCTION's program, and writes its rules to ROWS, in which the function was begun. REPORT
   counts the rules that cannot be expressed. Returns 0; -EBADMSG with the reason in RET_WHY;
   -ENOSPC or -ENOMEM. */
struct cfi_run {
  const struct cfi_section *section;
  struct table_rows *rows;
  struct table_report *report;
};
int cfi_program_run(const struct cfi_run *run, const struct cfi_cie *cie,
                    const struct cfi_function *function, const char **ret_why);

#endif
