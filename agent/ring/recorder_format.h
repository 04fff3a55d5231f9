/* SPDX-License-Identifier: Apache-2.0 */
/* A flight recorder: the last samples of each thread, for ever overwritten, readable after SIGKILL
   and, when the ring is a file on disk, after a reboot.  Slots are those of ring_format.h, at
   RECORDER_OFFSET; the data of a slot is an array of words that starts all zero: room for N =
   slot_bytes / 8 - 1 values and one word more.

   To add a value the handler stores a zero in the word after its place and then the value in its
   place, in this order, and steps on by one; after the N-th place comes the first.  For N = 4:

     x0    xx0    xxx0    xxxx|0    y0xx    yy0x    yyy0    ...

   So the first zero is where new ends and old begins; where it is the last word of all, nothing
   was overwritten.  A crash between the two stores leaves two zeros in a row: one old value less,
   nothing wrong.  The place itself holds a zero already, but for the first one after the N-th: that
   is cleared before the other two stores, or a crash would make its oldest value the newest.

   A value is one word: the PC, and above its 48 bits the weight in units (as in ring_pair), so a
   value is never zero.  Units beyond what fits go to dropped_full.  head counts values for ever;
   tail is not used.  Who frees a slot clears its data and its head first. */
#ifndef RING_RECORDER_FORMAT_H
#define RING_RECORDER_FORMAT_H

#include "image_format.h"
#include "ring_format.h"

enum {
  RECORDER_OFFSET = IMAGE_OFFSET + IMAGE_BYTES,
  RECORDER_VALUES_MIN = 3,
  RECORDER_VALUES_DEFAULT = 1022, /* a thread: ten seconds at 99 Hz; two less than a power of two */
  RECORDER_VALUES_MAX = (1 << 17) - 2,
  RECORDER_SLOT_BYTES_MIN = 8 * (RECORDER_VALUES_MIN + 1),
};

/* Data bytes of a slot that keeps at least VALUES (at most RECORDER_VALUES_MAX) of them, also after
   it has come round: then the zero between new and old takes one of the N places. */
static inline uint32_t recorder_slot_bytes(uint32_t values) {
  uint32_t bytes = RECORDER_SLOT_BYTES_MIN;
  while (bytes < RING_SLOT_BYTES_MAX && bytes / 8 - 2 < values) bytes *= 2;
  return bytes;
}

/* Bytes of a whole recorder. */
static inline uint64_t recorder_total_bytes(uint32_t slot_count, uint32_t slot_bytes) {
  return RECORDER_OFFSET + (uint64_t)slot_count * (RING_SLOT_HEADER_BYTES + slot_bytes);
}

#endif
