/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a ring that belongs to one thread: this header, then slot_bytes of data.

   owner: pid << 32 | tid, 0 if free. A thread claims a free slot by compare-and-swap at its first
   sample. At its end it sets `state` to RING_RELEASED, and the daemon frees the slot once it is
   drained (state first, then owner). If a thread dies without that, the daemon detects that the tid
   is gone and does the same. Only shared data is here: the thread's stack bounds, timer and
   recursion guard are in the target's private memory (preload/thread_slot.h).

   The thread's handler is the only producer, the daemon the only consumer. head and tail count
   bytes and never wrap, and all bytes up to head are complete. */
#ifndef RING_RING_SLOT_H
#define RING_RING_SLOT_H

#include <stdatomic.h>
#include <stdint.h>

enum { RING_SLOT_HEADER_BYTES = 256, RING_NAME_BYTES = 16 };

enum ring_slot_state { RING_LIVE = 0, RING_RELEASED = 1 };

struct ring_slot {
  _Atomic uint64_t owner;
  uint32_t magic;                /* RING_MAGIC */
  _Atomic uint32_t state;        /* enum ring_slot_state */
  _Atomic uint64_t head;         /* bytes produced; release by the handler, acquire by the daemon */
  _Atomic uint64_t tail;         /* bytes consumed; release by the daemon, acquire by the handler */
  _Atomic uint64_t dropped_full; /* records without room, by the handler */
  _Atomic uint64_t dropped_reentry; /* signals inside the handler, by the handler */
  uint64_t counted_full;            /* the part of dropped_full that the daemon has accounted for */
  uint64_t counted_reentry;
  uint32_t generation;        /* incremented at each claim */
  char name[RING_NAME_BYTES]; /* thread name at the thread's start, NUL-padded */
};

_Static_assert(sizeof(struct ring_slot) <= RING_SLOT_HEADER_BYTES, "slot header outgrew its room");

static inline uint64_t ring_owner(uint32_t pid, uint32_t tid) {
  return (uint64_t)pid << 32 | tid;
}

#endif
