/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a timer target's ring: a sealed memfd of the daemon's own making. */
#ifndef DAEMON_TIMER_RING_H
#define DAEMON_TIMER_RING_H

#include "hold.h"
#include "ring/ring_reader.h"

/* Decides unit_ns of TARGET, slot_bytes from its asked rate, and slot_count from that and from the
   USED bytes of all rings that there are. */
void timer_ring_size(struct hold_target *target, uint64_t used);

/* Makes the memfd for TARGET: sized, touched, filled in, sealed against SHRINK, GROW and further
   seals.  Returns the descriptor or -errno. */
int timer_ring_make(const struct hold_target *target);

/* Maps FD as TARGET's ring.  Returns 0 or -errno. */
int timer_ring_map(const struct hold_target *target, int fd, struct ring_reader *ret);
void timer_ring_unmap(struct ring_reader *ring);

/* The signal that TARGET's ring names. */
uint32_t timer_ring_signal(const struct hold_target *target);

uint64_t timer_ring_bytes(const struct hold_target *target);

#endif
