/* SPDX-License-Identifier: Apache-2.0 */
/* Switches sampling on and off for the calling thread. */
#ifndef PRELOAD_SAMPLING_H
#define PRELOAD_SAMPLING_H

#include "ring/ring_writer.h"
#include "unwind/unwind_frames.h"

#include <stdbool.h>

/* Stops a timer of CLOCK's kind that has survived an exec and would end this program.  First of
   all, whether the program is to be sampled or not. */
void sampling_end_inherited(enum ring_clock clock);

/* Why CLOCK and its signal are not ours to use, or NULL. */
const char *sampling_obstacle(enum ring_clock clock);

/* Once, before all that follow: keeps the terms, takes the signal.  SEED makes the threads' first
   expiries random.  Returns 0, or -EBUSY when the signal has a disposition or the clock a timer
   already (which counts as a thread that is not sampled), or -errno. */
int sampling_start(const struct ring_writer *ring, const struct ring_terms *terms, uint64_t seed);

/* True once sampling_start has succeeded. */
bool sampling_is_on(void);

/* Arms the calling thread, whose stack is STACK.  When that cannot be, the thread is counted as
   unsampled and runs on. */
void sampling_begin(const struct unwind_stack *stack);

/* A library is about to be unloaded, or has been.  Returns how often that was said. */
uint32_t sampling_note_unload(void);

/* The thread whose thread pointer is SELF is called NAME from now on. */
void sampling_name_thread(uintptr_t self, const char *name);

/* Counts a thread that could not even be told of. */
void sampling_skip(void);

/* Counts a stack that has no room for a signal; besides sampling_skip or sampling_shun. */
void sampling_note_cramped(void);

/* As sampling_skip for the calling thread when a signal would end it: blocks one that is sent to
   the whole process. */
void sampling_shun(void);

/* The ring's signal; only where sampling is on. */
int sampling_signal(void);

/* True where each thread has a timer; false where the process has one (itimer). */
bool sampling_is_by_thread(void);

/* The calling thread is not to be sampled any more; it is counted as unsampled.  False when it was
   not, and in a vfork's child, whose thread is its parent's. */
bool sampling_leave(void);

/* Around fork: before it in the caller, after it in the parent, after it in the child (which has no
   timers, and gets one of its own). */
void sampling_before_fork(void);
void sampling_after_fork(void);
void sampling_in_child(void);

#endif
