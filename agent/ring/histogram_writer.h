/* SPDX-License-Identifier: Apache-2.0 */
/* The target's half of a histogram (histogram_format.h). */
#ifndef RING_HISTOGRAM_WRITER_H
#define RING_HISTOGRAM_WRITER_H

#include "histogram_format.h"

/* Checked once and kept in the target's own memory: no later word of the ring can move a store out
   of the counters. */
struct histogram_writer {
  uint8_t *counters;
  const struct image_table *image;
  struct histogram_header *header;
  uint32_t bin_count, counter_max;
  uint8_t bin_shift, counter_shift;
};

/* Whether HEADER, a private copy, is within its limits and its counters within SIZE.  Pure. */
int histogram_header_is_sane(const struct histogram_header *header, uint64_t size);

/* Whether bin_count counters at OFFSET lie behind the headers and within SIZE.  Pure. */
int histogram_header_has_room(const struct histogram_header *header, uint64_t offset,
                              uint64_t size);

/* Checks the headers in the SIZE bytes of RING.  Returns 0, or -EBADMSG when a field is out of its
   limits or the counters would not lie within SIZE. */
int histogram_writer_init(struct histogram_writer *ret, void *ring, uint64_t size);

/* Counts a record of WEIGHT at PC: in a bin, or as outside, saturated or contended; one of no
   weight goes the same way and is not counted.  HINT is where this thread's last region was found.
   Any number of threads at once.  Signal-safe. */
void histogram_writer_add(const struct histogram_writer *histogram, uint64_t pc, uint32_t weight,
                          uint32_t *hint);

/* Counts an expiry that met the handler at work. */
void histogram_writer_count_reentry(const struct histogram_writer *histogram, uint32_t weight);

#endif
