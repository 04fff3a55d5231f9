/* SPDX-License-Identifier: Apache-2.0 */
/* The target's side of a flight recorder (recorder_format.h). */
#ifndef RING_RECORDER_WRITER_H
#define RING_RECORDER_WRITER_H

#include "recorder_format.h"

/* Adds a value to SLOT, which has SLOT_BYTES of data. PLACE is the thread's own index of the next
   value, 0 for a fresh slot.  Signal-safe. */
void recorder_writer_put(struct ring_slot *slot, uint32_t slot_bytes, uint64_t value,
                         uint32_t *place);

#endif
