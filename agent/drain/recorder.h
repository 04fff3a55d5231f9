/* SPDX-License-Identifier: Apache-2.0 */
/* A flight recorder of a running program: nothing is removed from it, and its image is kept up to
   date. */
#ifndef DRAIN_RECORDER_H
#define DRAIN_RECORDER_H

#include "drain.h"

/* Updates the mappings of TARGET while it is active, once a second. */
void recorder_follow(struct drain *drain, struct target *target);

/* The number of values written so far by the threads with slots. */
uint64_t recorder_written(const struct target *target);

/* Frees the slots of dead threads once few are free; a thread's last values stay until their place
   is needed. Returns the number of slots that belong to live threads, not counting those of PID (0:
   none), which runs another program now. */
uint32_t recorder_reclaim(struct target *target, pid_t pid);

#endif
