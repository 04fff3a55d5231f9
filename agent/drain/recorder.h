/* SPDX-License-Identifier: Apache-2.0 */
/* A flight recorder while its program runs: nothing is taken out of it, its image is kept up. */
#ifndef DRAIN_RECORDER_H
#define DRAIN_RECORDER_H

#include "drain.h"

/* Follows the mappings of TARGET while it is active, a second apart. */
void recorder_follow(struct drain *drain, struct target *target);

/* How many values the threads that have slots have written so far. */
uint64_t recorder_written(const struct target *target);

/* Makes slots free whose threads are gone, once few are left; a thread's last values stay as long
   as nobody needs their place.  Returns how many slots belong to threads that live, those of PID
   (0: nobody), which runs another program now, not among them. */
uint32_t recorder_reclaim(struct target *target, pid_t pid);

#endif
