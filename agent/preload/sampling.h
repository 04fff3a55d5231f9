/* SPDX-License-Identifier: Apache-2.0 */
/* Turns sampling on and off for the calling thread. */
#ifndef PRELOAD_SAMPLING_H
#define PRELOAD_SAMPLING_H

#include "ring/ring_writer.h"
#include "unwind/unwind_frames.h"

#include <stdbool.h>

/* Stops a timer of CLOCK's kind that has survived an exec and would end this program. Called first
   of all, even if the program is not to be sampled. */
void sampling_end_inherited(enum ring_clock clock);

/* Why the agent cannot use CLOCK and its signal, or NULL. */
const char *sampling_obstacle(enum ring_clock clock);

/* Once, before all that follow: stores the terms, takes the signal. SEED randomizes the threads'
   first expiries. Returns 0 or -errno. -EBUSY if the signal has a disposition or the clock already
   has a timer; this counts as an unsampled thread. */
int sampling_start(const struct ring_writer *ring, const struct ring_terms *terms, uint64_t seed);

/* True once sampling_start has succeeded. */
bool sampling_is_on(void);

/* Starts sampling the calling thread, which has the stack STACK. On failure the thread is counted
   as unsampled and continues. */
void sampling_begin(const struct unwind_stack *stack);

/* Counts that a library is about to be unloaded, or has been. Returns the count. */
uint32_t sampling_note_unload(void);

/* Sets the name of the thread with the thread pointer SELF to NAME. */
void sampling_name_thread(uintptr_t self, const char *name);

/* Counts a thread that cannot be sampled. */
void sampling_skip(void);

/* Counts a stack without room for a signal frame; in addition to sampling_skip or sampling_shun. */
void sampling_note_cramped(void);

/* As sampling_skip, for a calling thread that a signal would end: also blocks the signal, which may
   be sent to the whole process. */
void sampling_shun(void);

/* The ring's signal; only if sampling is on. */
int sampling_signal(void);

/* True if each thread has a timer; false if the process has one (itimer). */
bool sampling_is_by_thread(void);

/* Ends sampling of the calling thread and counts it as unsampled. False if it was not sampled, and
   in a vfork child, which runs on its parent's thread. */
bool sampling_leave(void);

/* Around fork: before it in the caller, after it in the parent, after it in the child (which has no
   timers, and gets its own). */
void sampling_before_fork(void);
void sampling_after_fork(void);
void sampling_in_child(void);

#endif
