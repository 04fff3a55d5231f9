/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in a signal handler in somebody else's process.  Two stores that matter, in this order: the
   zero behind the new value, then the value.  Killed in between, the record holds one old value
   less; each store is a whole word, so there is never half a value.

   The place comes from the thread's own memory and is checked against the size that was checked at
   set-up: no store leaves the slot's data. */
#include "recorder_writer.h"
#include "wide.h"

void recorder_writer_put(struct ring_slot *slot, uint32_t slot_bytes, uint64_t value,
                         uint32_t *place) {
  _Atomic uint64_t *words = (_Atomic uint64_t *)(void *)((uint8_t *)slot + RING_SLOT_HEADER_BYTES);
  uint32_t value_count = slot_bytes / (uint32_t)sizeof *words - 1;
  uint32_t at = *place < value_count ? *place : 0;
  /* Release: a reader of the living, and what is left after a kill, sees the stores in order. */
  if (at == 0) wide_clear(&words[0]); /* elsewhere the zero of the value before lies there */
  wide_clear(&words[at + 1]);
  wide_store(&words[at], value);
  *place = at + 1;
  wide_store(&slot->head, wide_peek(&slot->head) + 1);
}
