/* SPDX-License-Identifier: Apache-2.0 */
/* A flight recorder keeps the last samples of each thread in a circular buffer. It is readable
   after SIGKILL and, if the ring is a file on disk, after a reboot. Slots are those of
   ring_format.h, at RECORDER_OFFSET. The data of a slot is an array of words, initially zero: room
   for N = slot_bytes / 8 - 1 values and one more word.

   To add a value the handler stores a zero in the word after its place, then the value in its
   place, and advances by one; place N is followed by the first. For N = 4:

     x0    xx0    xxx0    xxxx|0    y0xx    yy0x    yyy0    ...

   So the first zero separates new values from old ones. If it is the last word, nothing was
   overwritten. A crash between the two stores leaves two adjacent zeros: one old value is lost, and
   nothing is wrong. The place itself already holds a zero, except the first one after place N. That
   one is cleared before the other two stores, or a crash would turn its oldest value into the
   newest.

   A value is one word: the PC, and above its 48 bits the weight in units (as in ring_pair), so it
   is never zero. Units that do not fit are added to dropped_full. head counts all values ever
   written; tail is not used. Freeing a slot clears its data and its head first. */
#ifndef RING_RECORDER_FORMAT_H
#define RING_RECORDER_FORMAT_H

#include "image_format.h"
#include "ring_format.h"

enum {
  RECORDER_OFFSET = IMAGE_OFFSET + IMAGE_BYTES,
  RECORDER_VALUES_MIN = 3,
  RECORDER_VALUES_DEFAULT = 1022, /* 10 s of a thread at 99 Hz; two less than a power of two */
  RECORDER_VALUES_MAX = (1 << 17) - 2,
  RECORDER_SLOT_BYTES_MIN = 8 * (RECORDER_VALUES_MIN + 1),
};

/* Data bytes of a slot that keeps at least VALUES values (at most RECORDER_VALUES_MAX), even after
   it has wrapped. Then the zero between new and old values occupies one of the N places. */
static inline uint32_t recorder_slot_bytes(uint32_t values) {
  uint32_t bytes = RECORDER_SLOT_BYTES_MIN;
  while (bytes < RING_SLOT_BYTES_MAX && bytes / 8 - 2 < values) bytes *= 2;
  return bytes;
}

/* The size of a whole recorder in bytes. */
static inline uint64_t recorder_total_bytes(uint32_t slot_count, uint32_t slot_bytes) {
  return RECORDER_OFFSET + (uint64_t)slot_count * (RING_SLOT_HEADER_BYTES + slot_bytes);
}

#endif
