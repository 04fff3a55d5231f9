/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses running targets, resumes or stops them, or changes their rate. */
#ifndef TARGETS_SWITCH_H
#define TARGETS_SWITCH_H

#include "target.h"

/* Sets RUN, PAUSE or OFF for one target, perf or timer. A timer target applies it at its next
   sample or is woken (switch_step). A perf target and its processes have applied it when this
   returns. Returns 0, or -errno of a perf event. */
int switch_target(struct target *target, enum ring_control control);

/* Announces to TARGET that control or period of its ring's header has changed. */
void switch_publish(struct target *target);

/* With every tick of the loop: permits requests, wakes processes without timers, and frees the rows
   of processes that are gone. */
void switch_step(struct target *target);
/* True if one of TARGET's processes has recently begun to wait for a nudge: an early next step is
   more likely to find it working. */
bool switch_is_waking(const struct target *target);

/* At shutdown, if TARGET is to have no timers: nudges processes that still have some, have used CPU
   time since, and are on a CPU. Returns true if some may still apply the change. Call often, after
   switch_step: a mostly idle process is seldom found working. */
bool switch_press(struct target *target);

/* The number of timers of a TARGET that is to have none, as reported by its processes. Those
   processes have not used the CPU time of one sample since, and record nothing. */
uint32_t switch_timers_left(const struct target *target);

/* Revokes the last control change sent to TARGET, because there are no more checks. */
void switch_take_back(struct target *target);

#endif
