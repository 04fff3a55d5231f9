/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information -> source map, by libdw.  Only in a process that may die. */
#ifndef SYMBOL_DWARF_READER_H
#define SYMBOL_DWARF_READER_H

#include "source_map.h"

struct buf;
struct symbol_set;

/* The file that was read; names in a symbol set borrow from it. */
struct dwarf_file;

void dwarf_file_close(struct dwarf_file *file);

/* How many of its units are in .dwo files that are no supplements. */
uint32_t dwarf_file_missing(const struct dwarf_file *file);

enum { DWARF_MISSING_MAX = 768 };

struct dwarf_input {
  struct span image;
  const struct span *supplements;
  uint32_t supplement_count;
  struct buf *missing; /* or NULL */
};

/* Reads the debug information of INPUT, whose bytes are writable, since libelf marks there what it
   has unpacked, and stay as they are until the file is closed.  Texts go to NAMES, functions, files
   and lines to MAP (settled), and the ranges of functions to SET, with the name that they have
   there.  INPUT->missing takes, for each unit in a .dwo file that is no supplement, the folder that
   it was compiled in and the file's name, each with its NUL, up to DWARF_MISSING_MAX.  Returns 0
   with the file to close in RET; WHY is not empty when something of it could not be had. Else
   -EBADMSG, -EOVERFLOW or -ENOMEM with WHY saying why nothing of it can be used; MAP and SET then
   hold rests.  One thread. */
int dwarf_file_read(const struct dwarf_input *input, struct index_names *names,
                    struct source_map *map, struct symbol_set *set, struct dwarf_file **ret,
                    char *why, size_t why_len);

#endif
