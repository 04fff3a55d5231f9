/* SPDX-License-Identifier: Apache-2.0 */
/* Which library a sample of a timer target is of, where some are unloaded. */
#ifndef DRAIN_UNLOADS_H
#define DRAIN_UNLOADS_H

#include "slot_marks.h"

#include "targets/processes.h"

/* To be asked before a slot is looked at. */
uint32_t unloads_now(const struct target *target);

/* What is copied from the slot of MARK is taken: from here on only samples come that are younger
   than BEFORE, the answer above. */
void unloads_settle(struct slot_mark *mark, uint32_t before);

/* A sample of TARGET that is to be named. */
struct unloads_sample {
  const struct slot_mark *mark; /* of its slot, as it stands there; NULL: not known */
  struct process *process;
  int maps_fd; /* -1: /proc */
};

/* Reads the mappings of SAMPLE's process anew where they may have changed, and sets what the
   process had then (process_past).  Marks it unsure where that is not known. */
void unloads_prepare(struct target *target, struct processes *processes, struct modules *modules,
                     const struct unloads_sample *sample);

#endif
