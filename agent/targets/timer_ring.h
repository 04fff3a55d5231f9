/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a timer target's ring: a sealed memfd of the daemon, or the file of a histogram or
   recorder (kept_files.h). */
#ifndef TARGETS_TIMER_RING_H
#define TARGETS_TIMER_RING_H

#include "keeper/hold.h"
#include "ring/histogram_layout.h"
#include "ring/ring_reader.h"

#include <stdbool.h>
#include <stdint.h>

/* Sets unit_ns of TARGET, slot_bytes from its requested rate, and slot_count from that and from
   USED, the bytes of all existing rings. */
void timer_ring_size(struct hold_target *target, uint64_t used);
/* The same for a recorder that keeps at least LAST values (0: the default) of each thread. */
void timer_ring_size_recorder(struct hold_target *target, uint32_t last, uint64_t used);
/* Sets bin_count of TARGET for CODE_BYTES in REGIONS, and bin_bytes and counter_bytes: as given (0:
   the default), or larger bins if those would be too many. Returns 0, -EINVAL for an invalid size,
   or -EOVERFLOW. */
int timer_ring_size_histogram(struct hold_target *target, uint64_t code_bytes, uint32_t regions);

/* Makes the memfd for TARGET: sized, allocated, initialized, sealed against SHRINK, GROW and
   further seals. Returns the descriptor or -errno. */
int timer_ring_make(const struct hold_target *target);

/* Initializes a ring in all of FD, which has the right size and allocated blocks. Returns 0 or
   -errno. */
int timer_ring_fill(const struct hold_target *target, int fd);

/* Maps FD as TARGET's ring.  Returns 0 or -errno. */
int timer_ring_map(const struct hold_target *target, int fd, struct ring_reader *ret);
void timer_ring_unmap(const struct hold_target *target, struct ring_reader *ring);

/* The signal of TARGET's ring. */
uint32_t timer_ring_signal(const struct hold_target *target);

uint64_t timer_ring_bytes(const struct hold_target *target);
/* CPU time of a weight of 1 in a ring of TARGET's collect and period_ns; a histogram's unit is then
   drawn near it. */
uint64_t timer_ring_unit_ns(const struct hold_target *target);
/* True if UNIT_NS may be the unit of TARGET's ring: a histogram's is near its period. */
bool timer_ring_is_unit(const struct hold_target *target, uint64_t unit_ns);

/* For a histogram. */
struct histogram_shape timer_ring_shape(const struct hold_target *target);

#endif
