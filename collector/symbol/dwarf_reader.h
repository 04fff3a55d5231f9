/* SPDX-License-Identifier: Apache-2.0 */
/* Converts debug information to a source map, by libdw. Only in a process that may crash. */
#ifndef SYMBOL_DWARF_READER_H
#define SYMBOL_DWARF_READER_H

#include "source_map.h"

struct buf;
struct symbol_set;

/* The file that was read; names in a symbol set borrow from it. */
struct dwarf_file;

void dwarf_file_close(struct dwarf_file *file);

/* Returns how many of its units are in .dwo files that are missing from the supplements. */
uint32_t dwarf_file_missing(const struct dwarf_file *file);

enum { DWARF_MISSING_MAX = 768 };

struct dwarf_input {
  struct span image;
  const struct span *supplements;
  uint32_t supplement_count;
  struct buf *missing; /* or NULL */
};

/* Reads the debug information of INPUT. Its bytes must be writable, since libelf marks unpacked
   sections there, and must stay unchanged until the file is closed. Texts are added to NAMES,
   functions, files and lines to MAP (settled), and the ranges of functions with their names to SET.
   For each unit in a missing .dwo file, INPUT->missing receives the compile folder and the file's
   name, each with its NUL. At most DWARF_MISSING_MAX units are listed. Returns 0 with the file to
   close in RET; WHY is not empty if some information was missing. Else returns -EBADMSG, -EOVERFLOW
   or -ENOMEM with the reason in WHY; MAP and SET then hold partial data. One thread. */
int dwarf_file_read(const struct dwarf_input *input, struct index_names *names,
                    struct source_map *map, struct symbol_set *set, struct dwarf_file **ret,
                    char *why, size_t why_len);

#endif
