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
/* True when one of TARGET's processes waits to be nudged, and not for long yet: the sooner the next
   step, the sooner it is met at work. */
bool switch_is_waking(const struct target *target);

/* The daemon ends, and TARGET is to have no timers: nudges processes that have some still, have
   used CPU time since they were told, and are on a CPU.  Returns whether there are any that may
   obey yet.  After switch_step, often: who works little is seldom at work. */
bool switch_press(struct target *target);

/* Timers of a TARGET that is to have none, as its processes say: those that have not used the CPU
   time of one sample since.  They record nothing. */
uint32_t switch_timers_left(const struct target *target);

/* Nobody is permitted any more what TARGET was told last: there will be no more looks. */
void switch_take_back(struct target *target);

#endif
