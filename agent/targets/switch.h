/* SPDX-License-Identifier: Apache-2.0 */
/* Tells running targets to pause, to go on, to stop for good, or to use another rate. */
#ifndef TARGETS_SWITCH_H
#define TARGETS_SWITCH_H

#include "target.h"

/* Makes RUN, PAUSE or OFF of one target, perf or timer.  A timer target obeys at its next sample or
   is woken (switch_step); a perf target has obeyed when this returns, its processes included.
   Returns 0, or -errno of a perf event. */
int switch_target(struct target *target, enum ring_control control);

/* Tells TARGET that control or period of its ring's header was changed. */
void switch_publish(struct target *target);

/* With every tick of the loop: permits those that ask, wakes those that have no timers to meet a
   change by, forgets processes that are gone. */
void switch_step(struct target *target);

#endif
