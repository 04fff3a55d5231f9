/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples of a timer target may be of a library that is gone. */
#ifndef DRAIN_UNLOADS_H
#define DRAIN_UNLOADS_H

#include "targets/processes.h"
#include "targets/target.h"

/* To be asked before a slot is looked at. */
uint32_t unloads_now(const struct target *target);

/* What is copied from SLOT is taken: from here on only samples come that are younger than BEFORE,
   the answer above. */
void unloads_settle(struct target *target, uint32_t slot, uint32_t before);

/* PROCESS is about to be named in samples of SLOT: reads its mappings anew (from MAPS_FD when it is
   not -1) where they may have changed, and marks it unsure where the samples may be older. */
void unloads_prepare(struct target *target, uint32_t slot, struct processes *processes,
                     struct process *process, int maps_fd);

#endif
