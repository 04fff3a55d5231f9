/* SPDX-License-Identifier: Apache-2.0 */
/* Split DWARF: units whose entries are in a .dwo file, alone or packed with others in a .dwp. */
#ifndef SYMBOL_DWARF_SPLIT_H
#define SYMBOL_DWARF_SPLIT_H

#include "common/buf.h"

#include <elfutils/libdw.h>

/* The .dwo and .dwp files among the supplements of one file. */
struct dwarf_splits;
struct elf_packed;

/* Looks through COUNT SUPPLEMENTS, whose bytes are writable and stay, for such files; what is none,
   or malformed, is left out, and so is what would unpack to too much, together with what is in
   PACKED, which outlives them.  Returns 0 or -ENOMEM. */
int dwarf_splits_open(const struct span *supplements, uint32_t count, struct elf_packed *packed,
                      struct dwarf_splits **ret);
void dwarf_splits_close(struct dwarf_splits *splits);

/* A unit as a file of its own, which libdw reads without its skeleton. */
struct split_unit {
  Dwarf *dwarf;
  Dwarf_Die die;
  uint64_t bytes;   /* of its entries: how many there are at most */
  uint64_t base;    /* to be added to its .debug_ranges, before DWARF 5 */
  Elf *elf;         /* the rest is its owner's alone */
  struct buf image; /* of the headers */
  struct buf ranges;
};

/* Finds the unit that SKELETON, of the file MAIN, stands for.  Returns 0 with RET to be closed;
   -ENOENT when it is in none of the supplements; -EBADMSG or -ENOMEM. */
int split_unit_open(const struct dwarf_splits *splits, Elf *main, Dwarf_Die *skeleton,
                    struct split_unit *ret);
void split_unit_close(struct split_unit *unit);

#endif
