/* SPDX-License-Identifier: Apache-2.0 */
/* The target's side of a ring (ring_format.h): claim a slot, reserve room for a record, commit it.
   Uses sizes that it checked once and keeps in private memory. So no later change of the shared
   memory lets a store leave the mapping. */
#ifndef RING_RING_WRITER_H
#define RING_RING_WRITER_H

#include "histogram_writer.h"
#include "ring_format.h"
#include "wide.h"

#include <stdbool.h>

struct ring_writer {
  uint8_t *base;
  uint8_t *slots;
  uint32_t slot_count, slot_bytes, depth_max;
  enum ring_collect collect;
  enum ring_clock clock;
  struct histogram_writer histogram; /* only if that is collected; there are no slots then */
};

/* Checks the header of the SIZE bytes at BASE. Returns 0, -EPROTO for another version, or -EBADMSG
   if a field exceeds its limits or the sizes do not add up to SIZE. */
int ring_writer_init(struct ring_writer *ret, struct ring_terms *ret_terms, void *base,
                     uint64_t size);

/* True while the daemon requests samples.  Signal-safe. */
static inline int ring_writer_is_on(const struct ring_writer *ring) {
  struct ring_header *header = (struct ring_header *)(void *)ring->base;
  return atomic_load_explicit(&header->control, memory_order_relaxed) == RING_RUN;
}

/* The count of library unloadings, incremented before and after each.  Signal-safe. */
static inline uint32_t ring_writer_unloads(const struct ring_writer *ring) {
  struct ring_header *header = (struct ring_header *)(void *)ring->base;
  return atomic_load_explicit(&header->unloads, memory_order_acquire);
}

/* Claims a free slot for OWNER (ring_owner) under NAME (RING_NAME_BYTES). Returns NULL if none is
   free; the caller then counts the thread as unsampled, once.  Signal-safe. */
struct ring_slot *ring_writer_claim(const struct ring_writer *ring, uint64_t owner,
                                    const char *name);

/* Releases SLOT; the daemon frees it once it is drained. Nothing may be written after. */
void ring_writer_release(struct ring_slot *slot);

/* Room for a record of depth_max frames, or for a mark, in SLOT. NULL if the ring is full: the loss
   is already counted in the slot, and the caller just returns.  Signal-safe. */
struct ring_record *ring_writer_reserve(const struct ring_writer *ring, struct ring_slot *slot);

/* Publishes RECORD, in which the caller has set weight, depth, flags and frames.  Signal-safe. */
void ring_writer_commit(struct ring_slot *slot, struct ring_record *record);

/* Increment counters of the header and of a slot.  Signal-safe. */
void ring_writer_count_unsampled(const struct ring_writer *ring);
void ring_writer_count_cramped(const struct ring_writer *ring);
void ring_writer_count_refused(const struct ring_writer *ring);
void ring_writer_count_strayed(const struct ring_writer *ring);
/* Returns the new count. */
uint32_t ring_writer_count_unload(const struct ring_writer *ring);
/* The log of unloadings, which the caller then writes (unload_format.h). */
struct unload_log *ring_writer_unload_log(const struct ring_writer *ring);
void ring_writer_count_full(struct ring_slot *slot, uint32_t count);
void ring_writer_count_reentry(struct ring_slot *slot);

/* Appends PAIR to the SLOT_BYTES of SLOT's data. Returns false if there is no room, which is not
   counted. Inline, because it is a third of the cost of a sample
   in that mode.
   Signal-safe. */
static inline bool ring_slot_append_pair(struct ring_slot *slot, uint32_t slot_bytes,
                                         struct ring_pair pair) {
  uint64_t head = wide_peek(&slot->head) & ~15ULL;
  uint64_t tail = wide_near(&slot->tail, head);
  if (head - tail > slot_bytes - sizeof pair) return false;
  uint8_t *data = (uint8_t *)slot + RING_SLOT_HEADER_BYTES;
  *(struct ring_pair *)(void *)(data + (head & (slot_bytes - 1))) = pair;
  /* Release: the pair is complete for the reader that acquires this head. */
  wide_store(&slot->head, head + sizeof pair);
  return true;
}

/* The same, but counts a loss in the slot. Returns 0, or -1 if there is no room.  Signal-safe. */
static inline int ring_writer_put_pair(const struct ring_writer *ring, struct ring_slot *slot,
                                       struct ring_pair pair) {
  if (ring_slot_append_pair(slot, ring->slot_bytes, pair)) return 0;
  ring_writer_count_full(slot, 1);
  return -1;
}

#endif
