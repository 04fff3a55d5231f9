/* SPDX-License-Identifier: Apache-2.0 */
/* Starts, stops and sets the timers of all sampled threads of this process, as the daemon requests
   in the ring's header (ring/switch_format.h). */
#ifndef PRELOAD_CONTROL_H
#define PRELOAD_CONTROL_H

#include "ring/ring_writer.h"
#include "thread_slot.h"

#include <signal.h>

/* Once, after sampler_init and before all other functions: takes the initial state from the ring.
   SEED randomizes first expiries. At most TIMERS_MAX threads get a timer. */
void control_init(const struct ring_terms *terms, uint64_t seed, uint32_t timers_max);

/* Sets this process's id to PID: at the start, and in a forked child, which has no timers. */
void control_begin_process(uint32_t pid);

/* For sigaction with SA_SIGINFO | SA_RESTART | SA_ONSTACK. Takes the sample, then applies a pending
   change if permitted.  Signal-safe. */
void control_on_signal(int signal, siginfo_t *event, void *context);

/* Leaves sampling for good because of WHY. When it returns, no timer of this process is left,
   except that of a thread which is changing its own timer and then deletes it. False if the process
   had left before or does not have the timers. The caller is inside the gate.  Signal-safe. */
bool control_leave(enum ring_left why);
bool control_has_left(void);

/* True in a vfork child, which shares this process's memory and must not change it. Also false if
   the gate forbids the system call.  Signal-safe. */
bool control_is_elsewhere(void);

/* True for the signal of one of the agent's timers, and for a nudge.  Signal-safe. */
bool control_is_own(const siginfo_t *event);

/* Applies a pending change, in a thread that may make system calls. Not from a handler. */
void control_poll(void);

/* Gives THREAD, which the calling thread has claimed, a timer unless timers are off. Returns 0, or
   -errno without a timer. */
int control_begin_thread(struct thread_slot *thread);

/* Deletes the timer of the calling thread for good. Returns 0, or -EBUSY if another thread keeps
   THREAD closed; the caller must then leave it as it is. */
int control_end_thread(struct thread_slot *thread);

#endif
