/* SPDX-License-Identifier: Apache-2.0 */
/* How large a histogram's ring is, and a fresh one (histogram_format.h). */
#ifndef RING_HISTOGRAM_LAYOUT_H
#define RING_HISTOGRAM_LAYOUT_H

#include "histogram_format.h"
#include "ring_format.h"

#include <stdbool.h>

struct histogram_shape {
  uint32_t bin_bytes;     /* 0: the default */
  uint32_t counter_bytes; /* 0: the default */
  uint32_t bin_count;
  bool is_shipped; /* there is room for what a daemon has taken */
};

/* True for a bin of 2 to 4096 bytes and a counter of 1, 2 or 4 (or 0 for either): a power of two.
 */
bool histogram_shape_is_valid(const struct histogram_shape *shape);

/* Makes SHAPE (valid; bin_count is ignored) whole for TEXT_BYTES of code in REGION_COUNT regions
   and as much again that may be mapped later, as far as the ring fits into HISTOGRAM_BYTES_MAX. */
void histogram_shape_fit(struct histogram_shape *shape, uint64_t text_bytes, uint32_t region_count);

/* True when SHAPE, as it was fitted for TEXT_BYTES, has not enough bins for all of them at its
   bin_bytes. */
bool histogram_shape_is_tight(const struct histogram_shape *shape, uint64_t text_bytes);

/* How many of BINS_LEFT may be given to what is mapped now; the others are for what comes. */
uint64_t histogram_bins_to_give(uint64_t bins_left);

/* Bytes of a whole ring. */
uint64_t histogram_total_bytes(const struct histogram_shape *shape);

/* Writes a fresh ring into RING, zeroed memory of histogram_total_bytes(); the image table stays
   empty. */
void histogram_init(void *ring, const struct histogram_shape *shape,
                    const struct ring_terms *terms);

#endif
