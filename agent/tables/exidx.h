/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the index of ARM's exception handling ABI (.ARM.exidx, .ARM.extab) to rules. */
#ifndef TABLES_EXIDX_H
#define TABLES_EXIDX_H

#include "prologue_file.h"
#include "table_report.h"

/* Adds the functions that the index of IMAGE can unwind. FILE shows where their frames are made and
   taken down. The source is UNWIND_ARM_EXIDX from now on. Returns 0, or the error of
   prologue_file_range. */
int exidx_read(const struct elf_image *image, struct table_rows *rows, struct prologue_file *file,
               struct table_report *report);

#endif
