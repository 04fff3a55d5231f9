/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel stops an event that samples faster than kernel.perf_event_max_sample_rate until its
   next tick, and writes a THROTTLE record. The lost time stays in the total: the exact rest of a
   perf target counts it as [unsampled]. */
#ifndef TARGETS_THROTTLE_H
#define TARGETS_THROTTLE_H

#include <stddef.h>
#include <stdint.h>

struct target;

/* Counts one THROTTLE record of TARGET; the first one is also reported in its `why`. */
void throttle_note(struct target *target);

#endif
