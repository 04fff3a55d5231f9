/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what the handlers of a timer target walk with (unwind/unwind_map.h) true. */
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
  bool is_for_all; /* programs of several users are served: what not all may read none gets */
};

/* Makes TARGET's map what its processes have mapped now, where that or its tables have changed
   since the last call.  What there is no time for is done at the next one. */
void target_regions_step(const struct target_regions_parts *parts, struct target *target);

#endif
