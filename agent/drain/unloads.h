/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the library of a timer target's sample if libraries are unloaded. */
#ifndef DRAIN_UNLOADS_H
#define DRAIN_UNLOADS_H

#include "slot_marks.h"

#include "targets/processes.h"

/* Call before a slot is read. */
uint32_t unloads_now(const struct target *target);

/* The copied records of MARK's slot were taken: all further samples are younger than BEFORE, the
   result of unloads_now. */
void unloads_settle(struct slot_mark *mark, uint32_t before);

/* A sample of TARGET to be resolved. */
struct unloads_sample {
  const struct slot_mark *mark; /* of its slot; NULL: unknown */
  struct process *process;
  int maps_fd; /* -1: /proc */
};

/* Reads the mappings of SAMPLE's process again if they may have changed, and sets its mappings at
   the time of SAMPLE (process_past). Marks it unsure if they are unknown. */
void unloads_prepare(struct target *target, struct processes *processes, struct modules *modules,
                     const struct unloads_sample *sample);

#endif
