/* SPDX-License-Identifier: Apache-2.0 */
/* The signal handler: context, unwind, ring. */
#ifndef PRELOAD_SAMPLER_H
#define PRELOAD_SAMPLER_H

#include "ring/ring_writer.h"
#include "unwind/unwind_map.h"

#include <signal.h>

/* Sets RING, which is copied, as the destination of samples. Before the first timer. */
void sampler_init(const struct ring_writer *ring);

/* The ring of sampler_init, for counters. */
const struct ring_writer *sampler_ring(void);

/* From here on, stacks are walked by the tables of SHARED (copied), if it has a map. */
void sampler_use_tables(const struct unwind_shared *shared);

enum { SAMPLER_MASK_CALLS = 2 };
/* Addresses of the C library's functions that unblock signals for programs; 0: unknown. An expiry
   at their end was blocked and has waited. Other library code unblocks signals too: fork blocks
   them while the kernel copies the process, and that time belongs to fork. Set before the first
   timer. */
extern uintptr_t sampler_mask_calls[SAMPLER_MASK_CALLS];

/* The tables of sampler_use_tables. */
const struct unwind_shared *sampler_tables(void);

struct thread_slot;

/* As sampler_on_signal, for a caller that has found THREAD by EVENT's token; NULL: there is none.
   Signal-safe. */
void sampler_take(struct thread_slot *thread, const siginfo_t *event, const void *context);

/* For sigaction with SA_SIGINFO | SA_RESTART | SA_ONSTACK. Takes one sample of the interrupted
   thread if EVENT is an expiry of one of the agent's timers; ignores anything else.
   Signal-safe. */
void sampler_on_signal(int signal, siginfo_t *event, void *context);

#endif
