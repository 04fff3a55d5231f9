/* SPDX-License-Identifier: Apache-2.0 */
/* The forked children of a timer target's program, as its ring names them (ring/switch_format.h).
 */
#ifndef TARGETS_CHILDREN_H
#define TARGETS_CHILDREN_H

#include "target.h"

#include <sys/types.h>

/* True when a process of TARGET other than the one that registered lives and may give samples,
   though it may have no slot yet.  Frees the rows of those that are gone. */
bool children_live(struct target *target);

/* Adds to the COUNT of PIDS the other processes of TARGET that may give samples, though they may
   have no slot yet.  Returns how many there are then, at most MOST. */
unsigned children_add(const struct target *target, pid_t *pids, unsigned count, unsigned most);

/* True when a fork has begun whose child has not come to enter a row yet. */
bool children_are_awaited(const struct target *target);

/* PID runs another program from here on. */
void children_forget(const struct target *target, pid_t pid);

#endif
