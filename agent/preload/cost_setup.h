/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample will take in this process (ring/ring_cost.h). */
#ifndef PRELOAD_COST_SETUP_H
#define PRELOAD_COST_SETUP_H

#include "ring/ring_writer.h"

/* Once, at set-up, after sampler_init(RING) and before the first timer: times runs of the handler
   in RING's mode and books them in its header.  Takes at most about 0.3 ms and leaves nothing else.
 */
void cost_setup(const struct ring_writer *ring);

#endif
