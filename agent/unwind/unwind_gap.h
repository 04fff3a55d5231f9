/* SPDX-License-Identifier: Apache-2.0 */
/* Code that lies far apart (a linker script's, or a kernel's) stands in one unwind table without
   the gaps between.  The code that maps a region asks once where it is in the table
   (table_rows_place); looks take addresses of the table. */
#ifndef UNWIND_UNWIND_GAP_H
#define UNWIND_UNWIND_GAP_H

#include <stdint.h>

enum { UNWIND_GAPS_MAX = 15 };

struct unwind_gap {
  uint64_t bytes; /* left out, in whole pages */
  uint32_t page;  /* of the table: the first one behind it */
  uint32_t reserved;
};

_Static_assert(sizeof(struct unwind_gap) == 16, "a format");

#endif
