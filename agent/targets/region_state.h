/* SPDX-License-Identifier: Apache-2.0 */
/* The walk data of a timer target's handlers, and whether it is up to date. */
#ifndef TARGETS_REGION_STATE_H
#define TARGETS_REGION_STATE_H

#include "process_entry.h"

struct unwind_map;

struct region_state {
  struct unwind_map *map; /* NULL: only frame pointers are used */
  bool is_due, was_put;   /* may need an update; was filled by this worker */
  uint64_t tables_serial; /* of the store, when it was filled */
  uint64_t needs_serial;  /* of the modules, when it was filled */
};

/* A sample of PROCESS was taken: its mappings may differ from those that the handlers have. */
static inline void region_state_note(struct region_state *state, const struct process *process) {
  if (process->maps_serial != process->shared_serial) state->is_due = true;
}

#endif
