/* SPDX-License-Identifier: Apache-2.0 */
/* The size of a histogram's ring, and the initialization of one (histogram_format.h). */
#ifndef RING_HISTOGRAM_LAYOUT_H
#define RING_HISTOGRAM_LAYOUT_H

#include "histogram_format.h"
#include "ring_format.h"

#include <stdbool.h>

struct histogram_shape {
  uint32_t bin_bytes;     /* 0: the default */
  uint32_t counter_bytes; /* 0: the default */
  uint32_t bin_count;
  bool is_shipped; /* has room for `taken` and a journal */
};

/* True for a bin of 2 to 4096 bytes and a counter of 1, 2 or 4 bytes, both powers of two; 0 is
   valid for either. */
bool histogram_shape_is_valid(const struct histogram_shape *shape);

/* Completes SHAPE (valid; bin_count is ignored) for TEXT_BYTES of code in REGION_COUNT regions, and
   as much again that may be mapped later. The ring is limited to HISTOGRAM_BYTES_MAX. */
void histogram_shape_fit(struct histogram_shape *shape, uint64_t text_bytes, uint32_t region_count);

/* True if SHAPE, fitted for TEXT_BYTES, has too few bins for them at its bin_bytes. */
bool histogram_shape_is_tight(const struct histogram_shape *shape, uint64_t text_bytes);

/* The number of BINS_LEFT that may be given to code mapped now; the others are kept for later
   code. */
uint64_t histogram_bins_to_give(uint64_t bins_left);

/* The size of a whole ring in bytes. */
uint64_t histogram_total_bytes(const struct histogram_shape *shape);

/* Initializes RING, zeroed memory of histogram_total_bytes(). The image table stays empty. */
void histogram_init(void *ring, const struct histogram_shape *shape,
                    const struct ring_terms *terms);

#endif
