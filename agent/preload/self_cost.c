/* SPDX-License-Identifier: Apache-2.0 */
/* Part of the handler: no libc, no system call.

   The CPU's counter is read only by a process that found it readable at set-up, and only for runs
   that the daemon has granted to this very process: strict seccomp and PR_SET_TSC turn the
   instruction into a fault, neither can be seen from here, and a forked child may have entered
   either on its own.

   A thread may be moved to another CPU between entry and exit; where counters differ so much that
   time went backwards, or by seconds, the run is not booked. */
#include "self_cost.h"
#include "ring/ticks.h"

static bool is_allowed;

void self_cost_allow(void) {
  is_allowed = true;
}

static struct ring_header *header_of(const struct ring_writer *ring) {
  return (struct ring_header *)(void *)ring->base;
}

uint64_t self_cost_begin(const struct ring_writer *ring, uint32_t pid) {
  _Atomic uint64_t *word = &header_of(ring)->cost_grant;
  uint64_t grant = atomic_load_explicit(word, memory_order_relaxed);
  if (!is_allowed || (uint32_t)(grant >> 32) != pid || (uint32_t)grant == 0) return 0;
  /* The last run of a grant leaves nothing behind, so that the next look is quick. */
  uint64_t left = (uint32_t)grant == 1 ? 0 : grant - 1;
  if (!atomic_compare_exchange_strong_explicit(word, &grant, left, memory_order_relaxed,
                                               memory_order_relaxed))
    return 0;
  return ticks_now();
}

void self_cost_book(const struct ring_writer *ring, uint64_t took) {
  if (took >> RING_COST_BUCKETS != 0) return;
  unsigned bucket = 31 - (unsigned)__builtin_clz((uint32_t)took | 1);
  atomic_fetch_add_explicit(&header_of(ring)->cost[bucket], 1, memory_order_relaxed);
}

void self_cost_end(const struct ring_writer *ring, uint64_t start) {
  self_cost_book(ring, ticks_now() - start);
}
