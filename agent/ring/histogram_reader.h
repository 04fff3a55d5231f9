/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a histogram (histogram_format.h) from a live mapping or the bytes of a file. Trusts none of
   it. */
#ifndef RING_HISTOGRAM_READER_H
#define RING_HISTOGRAM_READER_H

#include "histogram_format.h"
#include "image_table.h"

struct histogram_reader {
  const uint8_t *base;
  uint32_t bin_bytes, counter_bytes, bin_count;
  uint64_t counters_offset, taken_offset; /* checked; taken 0: there is none */
  uint64_t unit_ns;                       /* CPU time of a weight of 1 */
  struct image_table image;               /* a checked copy */
};

/* Bytes of code for each bin of REGION, which is of the checked copy. */
static inline uint32_t histogram_region_bin_bytes(const struct histogram_reader *histogram,
                                                  const struct image_region *region) {
  return histogram->bin_bytes << region->widening;
}

/* Records; UNITS is the weight of all of them. */
struct histogram_totals {
  uint64_t samples, outside, saturated, contended, units;
};

/* Units to distribute among records. */
struct histogram_weights {
  struct histogram_sum all, given;
};

/* The position of an iteration; starts all zero. */
struct histogram_cursor {
  uint32_t region, bin;
};

struct histogram_bin {
  uint32_t index;   /* of the counter */
  uint32_t module;  /* index in image.modules */
  uint64_t address; /* of its first byte, in the module's own ELF address space */
  uint32_t bytes;   /* bin width of the region; less at its end */
  uint32_t count;   /* not zero */
};

/* Checks the headers of the SIZE bytes at RING (8-byte aligned), which stay the caller's. IS_DEAD:
   see image_table_read. Returns 0, -EPROTO for another version, -EAGAIN, or -EBADMSG. */
int histogram_reader_open(struct histogram_reader *ret, const void *ring, uint64_t size,
                          bool is_dead);

/* True if the ring has room for `taken` and a journal, at the offsets that histogram_books_open
   uses. */
bool histogram_reader_is_shipped(const struct histogram_reader *histogram);

void histogram_reader_totals(const struct histogram_reader *histogram,
                             struct histogram_totals *ret);

/* TOTALS minus BEFORE; negative differences become 0. */
struct histogram_sum histogram_totals_since(const struct histogram_totals *totals,
                                            struct histogram_sum before);

/* Prepares to distribute ALL.units among ALL.records. If there are fewer units than records, some
   records get none. */
struct histogram_weights histogram_weights_of(struct histogram_sum all);
/* The units of the next RECORDS, by the average weight. The calls add up to ALL.units. */
uint64_t histogram_weights_next(struct histogram_weights *weights, uint64_t records);

/* The next nonzero bin of mapped and retired regions. False at the end. A whole iteration reads at
   most bin_count counters. */
bool histogram_reader_next(const struct histogram_reader *histogram,
                           struct histogram_cursor *cursor, struct histogram_bin *ret);

/* Counter INDEX (below bin_count). */
uint32_t histogram_reader_count(const struct histogram_reader *histogram, uint32_t index);

#endif
