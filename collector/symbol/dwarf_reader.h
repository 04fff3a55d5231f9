/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information -> source map, by libdw.  Only in a process that may die. */
#ifndef SYMBOL_DWARF_READER_H
#define SYMBOL_DWARF_READER_H

#include "source_map.h"

struct symbol_set;

/* The file that was read; names in a symbol set borrow from it. */
struct dwarf_file;

void dwarf_file_close(struct dwarf_file *file);

struct dwarf_input {
  struct span image;
  const struct span *supplements;
  uint32_t supplement_count;
};

/* Reads the debug information of INPUT, whose bytes are writable, since libelf marks there what it
   has unpacked, and stay as they are until the file is closed.  Texts go to NAMES, functions, files
   and lines to MAP (settled), and the ranges of functions to SET, with the name that they have
   there. Returns 0 with the file to close in RET; WHY is not empty when something of it could not
   be had. Else -EBADMSG, -EOVERFLOW or -ENOMEM with WHY saying why nothing of it can be used; MAP
   and SET then hold rests.  One thread. */
int dwarf_file_read(const struct dwarf_input *input, struct index_names *names,
                    struct source_map *map, struct symbol_set *set, struct dwarf_file **ret,
                    char *why, size_t why_len);

#endif
