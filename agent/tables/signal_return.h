/* SPDX-License-Identifier: Apache-2.0 */
/* Where signal handlers return to: signal trampolines. */
#ifndef TABLES_SIGNAL_RETURN_H
#define TABLES_SIGNAL_RETURN_H

#include "elf_image.h"
#include "table_rows.h"

/* Called with the BYTES of a trampoline at ADDRESS, and how far the kernel's frame is from where
   the CPU's own file has it.  Anything but 0 ends the search. */
typedef int signal_return_tell(void *context, uint64_t address, uint64_t bytes, int32_t offset);

/* Finds those in the code of IMAGE by their bytes.  Returns what TELL ended it with, or 0. */
int signal_return_each(const struct elf_image *image, signal_return_tell *tell, void *context);

/* Tells of those in the code of IMAGE, unless a better source has; the source is UNWIND_PROLOGUES
   from now on.  Returns 0, or what table_rows_function or table_rows_put refused with. */
int signal_return_read(const struct elf_image *image, struct table_rows *rows);

#endif
