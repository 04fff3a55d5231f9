/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of made-up code for the runs of cost_setup, because the daemon has not read any at
   set-up. */
#ifndef PRELOAD_COST_TABLES_H
#define PRELOAD_COST_TABLES_H

#include "unwind/unwind_map.h"

enum {
  COST_TABLES_FRAME_BYTES = 64, /* a frame of that code: from its stack pointer to the CFA */
  COST_TABLES_RETURN = sizeof(uintptr_t), /* offset of its return address from the stack pointer */
};

struct cost_tables {
  struct unwind_shared shared;
  uintptr_t bytes; /* total size */
};

/* Returns 0, or -ENOMEM. */
int cost_tables_make(struct cost_tables *ret);

void cost_tables_free(struct cost_tables *tables);

/* An address in the function of the Nth frame. Each has its own page of the table, as the functions
   of a stack do. */
uintptr_t cost_tables_code(unsigned n);

/* Evicts the data that a walk reads from the caches. */
void cost_tables_chill(const struct cost_tables *tables);

#endif
