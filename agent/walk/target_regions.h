/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the walk data of a timer target's handlers (unwind/unwind_map.h) up to date. */
#ifndef WALK_TARGET_REGIONS_H
#define WALK_TARGET_REGIONS_H

#include "process_code.h"

#include "targets/processes.h"
#include "targets/table_share.h"
#include "targets/target.h"

/* All borrowed. */
struct target_regions_parts {
  struct processes *processes;
  struct modules *modules;
  struct process_codes *codes;
  struct table_store *store;
  struct table_share *share;
  bool is_for_all; /* serves programs of several users: only tables that all may read */
};

/* Updates TARGET's map to the current mappings of its processes, if they or their tables have
   changed since the last call. Work without time left is done at the next call. */
void target_regions_step(const struct target_regions_parts *parts, struct target *target);

#endif
