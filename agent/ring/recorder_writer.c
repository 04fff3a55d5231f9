/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in a signal handler in somebody else's process.  Two stores that matter, in this order: the
   zero behind the new value, then the value.  Killed in between, the record holds one old value
   less; each store is a whole word, so there is never half a value.

   The place comes from the thread's own memory and is checked against the size that was checked at
   set-up: no store leaves the slot's data. */
#include "recorder_writer.h"

static void store(uint64_t *words, uint32_t at, uint64_t value) {
  /* Release: a reader of the living, and what is left after a kill, sees the stores in order. */
  atomic_store_explicit((_Atomic uint64_t *)&words[at], value, memory_order_release);
}

void recorder_writer_put(struct ring_slot *slot, uint32_t slot_bytes, uint64_t value,
                         uint32_t *place) {
  uint64_t *words = (uint64_t *)(void *)((uint8_t *)slot + RING_SLOT_HEADER_BYTES);
  uint32_t value_count = slot_bytes / (uint32_t)sizeof *words - 1;
  uint32_t at = *place < value_count ? *place : 0;
  if (at == 0) store(words, 0, 0); /* elsewhere the zero of the value before lies there */
  store(words, at + 1, 0);
  store(words, at, value);
  *place = at + 1;
  uint64_t written = atomic_load_explicit(&slot->head, memory_order_relaxed);
  atomic_store_explicit(&slot->head, written + 1, memory_order_release);
}
