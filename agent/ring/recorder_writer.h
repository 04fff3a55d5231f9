/* SPDX-License-Identifier: Apache-2.0 */
/* The target's half of a flight recorder (recorder_format.h). */
#ifndef RING_RECORDER_WRITER_H
#define RING_RECORDER_WRITER_H

#include "recorder_format.h"

/* Adds a value to SLOT, whose data are SLOT_BYTES; PLACE is this thread's own count of where the
   next one goes, 0 for a fresh slot.  Signal-safe. */
void recorder_writer_put(struct ring_slot *slot, uint32_t slot_bytes, uint64_t value,
                         uint32_t *place);

#endif
