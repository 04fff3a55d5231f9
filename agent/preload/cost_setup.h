/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of a sample in this process (ring/ring_cost.h). */
#ifndef PRELOAD_COST_SETUP_H
#define PRELOAD_COST_SETUP_H

#include "ring/ring_writer.h"

/* Once, at set-up, after sampler_init(RING) and before the first timer. Times runs of the handler
   in RING's mode and stores the result in its header. Takes about 0.3 ms at most and has no other
   effect. */
void cost_setup(const struct ring_writer *ring);

#endif
