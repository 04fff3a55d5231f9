/* SPDX-License-Identifier: Apache-2.0 */
/* Switches sampling on and off for the calling thread. */
#ifndef PRELOAD_SAMPLING_H
#define PRELOAD_SAMPLING_H

#include "ring/ring_writer.h"
#include "unwind.h"

#include <stdbool.h>

/* Once, before any other: keeps the terms, takes the signal.  SEED makes the threads' first
   expiries random.  Returns 0, or -EBUSY when the signal has a disposition already, or -errno. */
int sampling_start(const struct ring_writer *ring, const struct ring_terms *terms, uint64_t seed);

/* True once sampling_start has succeeded. */
bool sampling_is_on(void);

/* Arms the calling thread, whose stack is STACK.  When that cannot be, the thread is counted as
   unsampled and runs on. */
void sampling_begin(const struct unwind_stack *stack);

/* Counts a thread that could not even be told of. */
void sampling_skip(void);

/* The calling thread is not to be sampled any more; it is counted as unsampled. */
void sampling_leave(void);

/* Around fork: before it in the caller, after it in the parent, after it in the child (which has no
   timers, and gets one of its own). */
void sampling_before_fork(void);
void sampling_after_fork(void);
void sampling_in_child(void);

#endif
