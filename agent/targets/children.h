/* SPDX-License-Identifier: Apache-2.0 */
/* The forked children of a timer target's program, as listed in its ring (ring/switch_format.h). */
#ifndef TARGETS_CHILDREN_H
#define TARGETS_CHILDREN_H

#include "target.h"

#include <sys/types.h>

/* True if a process of TARGET other than the registered one lives and may give samples, even
   without a slot yet. Frees the rows of processes that are gone. */
bool children_live(struct target *target);

/* Adds to the COUNT of PIDS the other processes of TARGET that may give samples, even without a
   slot yet. Returns the new count, at most MOST. */
unsigned children_add(const struct target *target, pid_t *pids, unsigned count, unsigned most);

/* True if a fork has begun and its child has not added its row yet. */
bool children_are_awaited(const struct target *target);

/* PID runs another program from now on. */
void children_forget(const struct target *target, pid_t pid);

#endif
