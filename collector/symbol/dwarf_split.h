/* SPDX-License-Identifier: Apache-2.0 */
/* Split DWARF: units with their entries in a .dwo file, alone or packed with others in a .dwp. */
#ifndef SYMBOL_DWARF_SPLIT_H
#define SYMBOL_DWARF_SPLIT_H

#include "common/buf.h"

#include <elfutils/libdw.h>

/* The .dwo and .dwp files among the supplements of one file. */
struct dwarf_splits;
struct elf_packed;

/* Finds these files among COUNT SUPPLEMENTS, whose bytes are writable and must stay. Other and
   malformed files are left out. So are files that would exceed the limit of unpacked bytes,
   together with PACKED. PACKED outlives them. Returns 0 or -ENOMEM. */
int dwarf_splits_open(const struct span *supplements, uint32_t count, struct elf_packed *packed,
                      struct dwarf_splits **ret);
void dwarf_splits_close(struct dwarf_splits *splits);

/* A unit as a file of its own. libdw reads it without its skeleton. */
struct split_unit {
  Dwarf *dwarf;
  Dwarf_Die die;
  uint64_t bytes;   /* of its entries: an upper bound of their number */
  uint64_t base;    /* to be added to its .debug_ranges, before DWARF 5 */
  Elf *elf;         /* private from here on */
  struct buf image; /* of the headers */
  struct buf ranges;
};

/* Opens the unit of SKELETON, an entry of the file MAIN. Returns 0 with RET to be closed; -ENOENT
   if it is in none of the supplements; -EBADMSG or -ENOMEM. */
int split_unit_open(const struct dwarf_splits *splits, Elf *main, Dwarf_Die *skeleton,
                    struct split_unit *ret);
void split_unit_close(struct split_unit *unit);

#endif
