/* SPDX-License-Identifier: Apache-2.0 */
/* Finds signal trampolines, to which signal handlers return. */
#ifndef TABLES_SIGNAL_RETURN_H
#define TABLES_SIGNAL_RETURN_H

#include "elf_image.h"
#include "table_rows.h"

/* Called with the BYTES of a trampoline at ADDRESS, and the offset of the kernel's frame relative
   to the CPU's own file. A result other than 0 ends the search. */
typedef int signal_return_tell(void *context, uint64_t address, uint64_t bytes, int32_t offset);

/* Finds trampolines in the code of IMAGE by their bytes. Returns the result of TELL that ended the
   search, or 0. */
int signal_return_each(const struct elf_image *image, signal_return_tell *tell, void *context);

/* Adds the trampolines in the code of IMAGE that no better source has; the source is
   UNWIND_PROLOGUES from now on. Returns 0, or the error of table_rows_function or
   table_rows_put. */
int signal_return_read(const struct elf_image *image, struct table_rows *rows);

#endif
