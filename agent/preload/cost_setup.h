/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample will take in this process (ring/ring_cost.h). */
#ifndef PRELOAD_COST_SETUP_H
#define PRELOAD_COST_SETUP_H

#include "ring/ring_writer.h"
#include "unwind.h"

/* Once, at set-up: times dry runs of the walk on the caller's STACK and books them in RING. */
void cost_setup(const struct ring_writer *ring, const struct unwind_stack *stack);

#endif
