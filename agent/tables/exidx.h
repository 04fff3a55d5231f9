/* SPDX-License-Identifier: Apache-2.0 */
/* The index of ARM's exception handling ABI (.ARM.exidx, .ARM.extab) -> rules. */
#ifndef TABLES_EXIDX_H
#define TABLES_EXIDX_H

#include "prologue_file.h"
#include "table_report.h"

/* Tells of the functions that the index of IMAGE knows how to unwind, with FILE to see where their
   frames are made and taken down; the source is UNWIND_ARM_EXIDX from now on.  Returns 0, or what
   prologue_file_range refused with. */
int exidx_read(const struct elf_image *image, struct table_rows *rows, struct prologue_file *file,
               struct table_report *report);

#endif
