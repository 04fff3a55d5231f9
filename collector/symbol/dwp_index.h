/* SPDX-License-Identifier: Apache-2.0 */
/* .debug_cu_index of a .dwp file: the part of each section that belongs to each unit. */
#ifndef SYMBOL_DWP_INDEX_H
#define SYMBOL_DWP_INDEX_H

#include "common/span.h"

enum dwp_section {
  DWP_INFO,
  DWP_ABBREV,
  DWP_LINE,
  DWP_STR_OFFSETS,
  DWP_RNGLISTS,
  DWP_SECTIONS,
};

struct dwp_unit {
  struct {
    uint32_t offset, bytes; /* bytes 0: there is no part of this section */
  } parts[DWP_SECTIONS];
};

/* Finds the unit ID in INDEX, of GNU's version 2 or DWARF 5. Its parts are not checked against
   their sections. Returns 0, -ENOENT or -EBADMSG. Pure. */
int dwp_index_find(struct span index, bool is_big_endian, uint64_t id, struct dwp_unit *ret);

#endif
