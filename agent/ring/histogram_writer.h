/* SPDX-License-Identifier: Apache-2.0 */
/* The target's side of a histogram (histogram_format.h). */
#ifndef RING_HISTOGRAM_WRITER_H
#define RING_HISTOGRAM_WRITER_H

#include "histogram_format.h"

/* Checked once and kept in the target's private memory, so that later changes of the ring cannot
   move a store out of the counters. */
struct histogram_writer {
  uint8_t *counters;
  const struct image_table *image;
  struct histogram_header *header;
  uint32_t bin_count, counter_max;
  uint8_t bin_shift, counter_shift;
};

/* True if HEADER, a private copy, is within its limits and its counters within SIZE. Pure. */
int histogram_header_is_sane(const struct histogram_header *header, uint64_t size);

/* True if bin_count counters at OFFSET lie behind the headers and within SIZE. Pure. */
int histogram_header_has_room(const struct histogram_header *header, uint64_t offset,
                              uint64_t size);

/* Checks the headers in the SIZE bytes of RING. Returns 0, or -EBADMSG if a field exceeds its
   limits or the counters do not lie within SIZE. */
int histogram_writer_init(struct histogram_writer *ret, void *ring, uint64_t size);

/* Counts a record of WEIGHT at PC: in a bin, or as outside, saturated or contended. A weight of 0
   takes the same path and counts nothing. HINT is the index of this thread's last region. Any
   number of threads at once.  Signal-safe. */
void histogram_writer_add(const struct histogram_writer *histogram, uint64_t pc, uint32_t weight,
                          uint32_t *hint);

/* Counts an expiry that interrupted the handler itself. */
void histogram_writer_count_reentry(const struct histogram_writer *histogram, uint32_t weight);

#endif
