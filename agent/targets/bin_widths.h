/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the bin width of each region if a histogram has too few bins for all of them. */
#ifndef TARGETS_BIN_WIDTHS_H
#define TARGETS_BIN_WIDTHS_H

#include "ring/image_format.h"

struct bin_widths {
  uint32_t bin_bytes; /* width of a bin that is not widened */
  uint32_t count;
  uint64_t bytes[IMAGE_REGIONS_MAX]; /* size of each region */
  uint8_t widening[IMAGE_REGIONS_MAX];
};

/* The number of bins for BYTES of code, each BIN_BYTES wide, doubled WIDENING times. Pure. */
uint64_t bin_widths_bins(uint32_t bin_bytes, unsigned widening, uint64_t bytes);

/* Sets the widening of each region so that all fit into BINS, if possible. Pure. */
void bin_widths_fit(struct bin_widths *widths, uint64_t bins);

#endif
