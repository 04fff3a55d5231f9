/* SPDX-License-Identifier: Apache-2.0 */
/* A bin is reported as its first byte. If it holds several functions, the first of them gets the
   time of all, though it may never have run. A histogram's memory is fixed, and one huge library
   must not widen the bins of the program itself.

   So the region with the most bins gets bins of twice the width, repeatedly until all fit. Small
   regions stay exact, and large ones end with about the same number of bins. A program of 1 MiB
   with a library of 128 MiB keeps bins of 16 bytes, and the library has 128.

   If the regions do not fit even with the widest bins, the caller must leave some out. */
#include "bin_widths.h"

#include "ring/histogram_format.h"

#include <stdbool.h>

uint64_t bin_widths_bins(uint32_t bin_bytes, unsigned widening, uint64_t bytes) {
  uint64_t width = (uint64_t)bin_bytes << widening;
  return bytes / width + (bytes % width != 0);
}

static uint64_t bins_of(const struct bin_widths *widths, uint32_t i) {
  return bin_widths_bins(widths->bin_bytes, widths->widening[i], widths->bytes[i]);
}

static bool is_widest(const struct bin_widths *widths, uint32_t i) {
  return (uint64_t)widths->bin_bytes << widths->widening[i] >= HISTOGRAM_BIN_BYTES_MAX;
}

/* The region with the most bins that can be widened; count: there is none. */
static uint32_t find_largest(const struct bin_widths *widths) {
  uint32_t largest = widths->count;
  for (uint32_t i = 0; i < widths->count; i++) {
    if (is_widest(widths, i)) continue;
    if (largest == widths->count || bins_of(widths, i) > bins_of(widths, largest)) largest = i;
  }
  return largest;
}

void bin_widths_fit(struct bin_widths *widths, uint64_t bins) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < widths->count; i++) {
    widths->widening[i] = 0;
    total += bins_of(widths, i);
  }
  while (total > bins) {
    uint32_t largest = find_largest(widths);
    if (largest == widths->count) return;
    total -= bins_of(widths, largest);
    widths->widening[largest]++;
    total += bins_of(widths, largest);
  }
}
