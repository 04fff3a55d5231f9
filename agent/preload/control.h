/* SPDX-License-Identifier: Apache-2.0 */
/* Whether timers run, and at which period: as the daemon says in the ring's header
   (ring/switch_format.h), for all sampled threads of this process. */
#ifndef PRELOAD_CONTROL_H
#define PRELOAD_CONTROL_H

#include "ring/ring_writer.h"
#include "thread_slot.h"

#include <signal.h>

/* Once, after sampler_init and before all others: starts from what the ring says now.  SEED makes
   first expiries random.  No more than TIMERS_MAX threads get a timer. */
void control_init(const struct ring_terms *terms, uint64_t seed, uint32_t timers_max);

/* This process is PID from here on: at the start, and in a forked child, which has no timers. */
void control_begin_process(uint32_t pid);

/* For sigaction with SA_SIGINFO | SA_RESTART | SA_ONSTACK: takes the sample, then obeys a change
   where one has come and is permitted.  Signal-safe. */
void control_on_signal(int signal, siginfo_t *event, void *context);

/* Leaves sampling for good because of WHY: no timer of this process is left when it returns, unless
   a thread is at work on its own: that one deletes it itself.  False when it had left before, or
   when this is not the process that has the timers.  Inside the gate.  Signal-safe. */
bool control_leave(enum ring_left why);
bool control_has_left(void);

/* True in a vfork's child: it has this process's memory and must leave all of it as it is.  False
   as well where the gate does not let us ask.  Signal-safe. */
bool control_is_elsewhere(void);

/* True for the signal of a timer of ours, and for a nudge.  Signal-safe. */
bool control_is_own(const siginfo_t *event);

/* Obeys a change, in a thread that may make system calls.  Not from a handler. */
void control_poll(void);

/* The calling thread has taken THREAD: gives it a timer, unless timers are off.  Returns 0 or
   -errno: then there is none. */
int control_begin_thread(struct thread_slot *thread);

/* Takes the timer of the calling thread away for good.  Returns 0, or -EBUSY when somebody else
   does not let go of THREAD: it must then be left as it is. */
int control_end_thread(struct thread_slot *thread);

#endif
