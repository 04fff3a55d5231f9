/* SPDX-License-Identifier: Apache-2.0 */
/* Code sections far apart (from a linker script, or a kernel's) share one unwind table without the
   gaps between. A region's address in the table is computed once, when it is mapped
   (table_rows_place). Look-ups take addresses of the table. */
#ifndef UNWIND_UNWIND_GAP_H
#define UNWIND_UNWIND_GAP_H

#include <stdint.h>

enum { UNWIND_GAPS_MAX = 15 };

struct unwind_gap {
  uint64_t bytes; /* size left out, in whole pages */
  uint32_t page;  /* of the table: the first page after the gap */
  uint32_t reserved;
};

_Static_assert(sizeof(struct unwind_gap) == 16, "a format");

#endif
