/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in a signal handler of the target. Two stores matter, in this order: the zero after the new
   value, then the value. A kill in between loses one old value. Each store is a whole word, so
   there is never half a value.

   The place is in the thread's private memory, and it is checked against the size that was checked
   at set-up. So no store leaves the slot's data. */
#include "recorder_writer.h"
#include "wide.h"

void recorder_writer_put(struct ring_slot *slot, uint32_t slot_bytes, uint64_t value,
                         uint32_t *place) {
  _Atomic uint64_t *words = (_Atomic uint64_t *)(void *)((uint8_t *)slot + RING_SLOT_HEADER_BYTES);
  uint32_t value_count = slot_bytes / (uint32_t)sizeof *words - 1;
  uint32_t at = *place < value_count ? *place : 0;
  /* Release: a reader of a live recorder, or of one left by a kill, sees the stores in order. */
  if (at == 0) wide_clear(&words[0]); /* elsewhere the previous value's zero is there */
  wide_clear(&words[at + 1]);
  wide_store(&words[at], value);
  *place = at + 1;
  wide_store(&slot->head, wide_peek(&slot->head) + 1);
}
