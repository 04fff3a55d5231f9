/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a histogram (histogram_format.h): a live mapping, or the bytes of a file.  Trusts none of
   it. */
#ifndef RING_HISTOGRAM_READER_H
#define RING_HISTOGRAM_READER_H

#include "histogram_format.h"
#include "image_table.h"

struct histogram_reader {
  const uint8_t *base;
  uint32_t bin_bytes, counter_bytes, bin_count;
  uint64_t counters_offset, taken_offset; /* checked; taken 0: there is none */
  uint64_t unit_ns;                       /* what a weight of 1 stands for */
  struct image_table image;               /* a checked copy */
};

/* Bytes of code that a bin of REGION, of the checked copy, has. */
static inline uint32_t histogram_region_bin_bytes(const struct histogram_reader *histogram,
                                                  const struct image_region *region) {
  return histogram->bin_bytes << region->widening;
}

/* Records; UNITS are what all of them weigh. */
struct histogram_totals {
  uint64_t samples, outside, saturated, contended, units;
};

/* Units shared out among records. */
struct histogram_weights {
  struct histogram_sum all, given;
};

/* Where an iteration stands; all zero at its start. */
struct histogram_cursor {
  uint32_t region, bin;
};

struct histogram_bin {
  uint32_t index;   /* of the counter */
  uint32_t module;  /* index in image.modules */
  uint64_t address; /* of its first byte, in the module's own ELF address space */
  uint32_t bytes;   /* of the region's bins; less at its end */
  uint32_t count;   /* not zero */
};

/* Checks the headers of the SIZE bytes at RING, which stay the caller's (8-byte aligned).  IS_DEAD:
   see image_table_read.  Returns 0, -EPROTO for another version, -EAGAIN, or -EBADMSG. */
int histogram_reader_open(struct histogram_reader *ret, const void *ring, uint64_t size,
                          bool is_dead);

/* There is room for what was shipped of it, where histogram_books_open looks for that. */
bool histogram_reader_is_shipped(const struct histogram_reader *histogram);

void histogram_reader_totals(const struct histogram_reader *histogram,
                             struct histogram_totals *ret);

/* What TOTALS are beyond BEFORE; 0 where they are not. */
struct histogram_sum histogram_totals_since(const struct histogram_totals *totals,
                                            struct histogram_sum before);

/* Shares ALL.units out among ALL.records; where there are fewer units some records weigh none. */
struct histogram_weights histogram_weights_of(struct histogram_sum all);
/* The units of the next RECORDS, as the average has it; those of all of them are ALL.units. */
uint64_t histogram_weights_next(struct histogram_weights *weights, uint64_t records);

/* The next bin that holds something, of mapped and retired regions.  False at the end.  A whole
   iteration looks at no more than bin_count counters. */
bool histogram_reader_next(const struct histogram_reader *histogram,
                           struct histogram_cursor *cursor, struct histogram_bin *ret);

/* The counter INDEX (below bin_count). */
uint32_t histogram_reader_count(const struct histogram_reader *histogram, uint32_t index);

#endif
