/* SPDX-License-Identifier: Apache-2.0 */
/* Converts an ELF file to its unwind table. */
#ifndef TABLES_TABLE_MAKE_H
#define TABLES_TABLE_MAKE_H

#include "table_report.h"

#include "unwind/unwind_arch.h"

#include "common/buf.h"
#include "common/span.h"

#include <stdbool.h>

struct table_input {
  struct span file;               /* the whole ELF file */
  struct span debug;              /* its separate debug file; empty: none */
  const struct unwind_arch *arch; /* the CPU that the table is for */
  bool is_told_only;              /* only call frame information, no guesses */
};

/* Appends the table of INPUT to RET, which is empty. Sources are the file's .eh_frame, its
   .debug_frame or that of its debug file, its entry point, its .ARM.exidx, and its instructions.
   Every byte is untrusted. Returns 0; -ENODATA if there is no information; -EBADMSG if it is no
   linked ELF file; -EPROTO for another machine; -EOVERFLOW beyond a limit; -ENOMEM. REPORT is
   always filled in. Pure. */
int table_make(const struct table_input *input, struct buf *ret, struct table_report *report);

#endif
