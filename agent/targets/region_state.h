/* SPDX-License-Identifier: Apache-2.0 */
/* What the handlers of a timer target walk stacks with, and whether that is still true. */
#ifndef TARGETS_REGION_STATE_H
#define TARGETS_REGION_STATE_H

#include "process_entry.h"

struct unwind_map;

struct region_state {
  struct unwind_map *map; /* NULL: frame pointers have to do */
  bool is_due, was_put;   /* it may have to change; this worker has filled it */
  uint64_t tables_serial; /* of the store, when it was filled */
  uint64_t needs_serial;  /* of the modules, when it was filled */
};

/* A sample of PROCESS was taken: its mappings may be others than the handlers know. */
static inline void region_state_note(struct region_state *state, const struct process *process) {
  if (process->maps_serial != process->shared_serial) state->is_due = true;
}

#endif
