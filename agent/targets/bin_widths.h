/* SPDX-License-Identifier: Apache-2.0 */
/* How wide the bins of each region are where a histogram has not enough for all of them. */
#ifndef TARGETS_BIN_WIDTHS_H
#define TARGETS_BIN_WIDTHS_H

#include "ring/image_format.h"

struct bin_widths {
  uint32_t bin_bytes; /* of a bin that is not widened */
  uint32_t count;
  uint64_t bytes[IMAGE_REGIONS_MAX]; /* of each region */
  uint8_t widening[IMAGE_REGIONS_MAX];
};

/* Bins that BYTES of code take when each is BIN_BYTES, doubled WIDENING times.  Pure. */
uint64_t bin_widths_bins(uint32_t bin_bytes, unsigned widening, uint64_t bytes);

/* Sets the widening of each region, so that all of them fit into BINS where that can be.  Pure. */
void bin_widths_fit(struct bin_widths *widths, uint64_t bins);

#endif
