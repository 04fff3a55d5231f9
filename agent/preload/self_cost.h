/* SPDX-License-Identifier: Apache-2.0 */
/* The handler times itself (ring/ring_cost.h). */
#ifndef PRELOAD_SELF_COST_H
#define PRELOAD_SELF_COST_H

#include "ring/ring_writer.h"
#include "unwind.h"

/* True when a run of the handler is to be timed by somebody: the handler's one look.  Signal-safe.
 */
static inline bool self_cost_is_granted(const struct ring_writer *ring) {
  const struct ring_header *header = (const struct ring_header *)(const void *)ring->base;
  return atomic_load_explicit(&header->cost_grant, memory_order_relaxed) != 0;
}

/* Takes one run of what is granted to process PID.  Returns the counter, or 0 when there is nothing
   to take.  Signal-safe. */
uint64_t self_cost_begin(const struct ring_writer *ring, uint32_t pid);

/* Books a run that began at START (not 0).  Signal-safe. */
void self_cost_end(const struct ring_writer *ring, uint64_t start);

/* Adds TOOK units to the buckets.  Signal-safe. */
void self_cost_book(const struct ring_writer *ring, uint64_t took);

/* From here on the counter may be read, when granted. */
void self_cost_allow(void);

/* Once, at set-up: finds out whether the counter may be read, says so in RING, and times some dry
   runs of the walk on the caller's STACK as a first guess. */
void cost_setup(const struct ring_writer *ring, const struct unwind_stack *stack);

#endif
