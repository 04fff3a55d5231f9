/* SPDX-License-Identifier: Apache-2.0 */
/* The signal handler: context -> unwind -> ring. */
#ifndef PRELOAD_SAMPLER_H
#define PRELOAD_SAMPLER_H

#include "ring/ring_writer.h"
#include "unwind/unwind_map.h"

#include <signal.h>

/* Makes RING, which is copied, the one that samples go to.  Before the first timer. */
void sampler_init(const struct ring_writer *ring);

/* The ring of sampler_init, for counters. */
const struct ring_writer *sampler_ring(void);

/* Stacks are walked by tables from here on, where SHARED (copied) has a map. */
void sampler_use_tables(const struct unwind_shared *shared);

enum { SAMPLER_MASK_CALLS = 2 };
/* Addresses of the C library's functions that unblock signals for programs; 0: not known.  An
   expiry that comes at their end has waited.  Other code of the library unblocks signals, too: fork
   blocks them while the kernel copies the process, and that time is fork's.  Set before the first
   timer. */
extern uintptr_t sampler_mask_calls[SAMPLER_MASK_CALLS];

/* What they are walked by. */
const struct unwind_shared *sampler_tables(void);

struct thread_slot;

/* The same for a caller that has found THREAD, of EVENT's token; NULL: there is none.
   Signal-safe. */
void sampler_take(struct thread_slot *thread, const siginfo_t *event, const void *context);

/* For sigaction with SA_SIGINFO | SA_RESTART | SA_ONSTACK.  Takes one sample of the interrupted
   thread when EVENT is an expiry of one of our timers; anything else is let pass.  Signal-safe. */
void sampler_on_signal(int signal, siginfo_t *event, void *context);

#endif
