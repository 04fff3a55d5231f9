/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of made-up code for the runs of cost_setup: at set-up the daemon has read none yet. */
#ifndef PRELOAD_COST_TABLES_H
#define PRELOAD_COST_TABLES_H

#include "unwind/unwind_map.h"

enum {
  COST_TABLES_FRAME_BYTES = 64, /* of a frame of that code: from its stack pointer to the CFA */
  COST_TABLES_RETURN = sizeof(uintptr_t), /* where its return address is, from the stack pointer */
};

struct cost_tables {
  struct unwind_shared shared;
  uintptr_t bytes; /* of all of it */
};

/* Returns 0, or -ENOMEM. */
int cost_tables_make(struct cost_tables *ret);

void cost_tables_free(struct cost_tables *tables);

/* An address of the function of the Nth frame: each in a page of the table of its own, as the
   functions of a stack are. */
uintptr_t cost_tables_code(unsigned n);

/* Takes what a walk reads out of the caches. */
void cost_tables_chill(const struct cost_tables *tables);

#endif
