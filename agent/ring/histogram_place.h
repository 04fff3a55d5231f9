/* SPDX-License-Identifier: Apache-2.0 */
/* Maps a counter to its code. */
#ifndef RING_HISTOGRAM_PLACE_H
#define RING_HISTOGRAM_PLACE_H

#include "histogram_reader.h"

/* The regions of an image, mapped and retired, sorted by their first bin. */
struct histogram_places {
  const struct histogram_reader *histogram; /* borrowed */
  uint32_t order[IMAGE_REGIONS_MAX], count;
};

void histogram_places_sort(struct histogram_places *ret, const struct histogram_reader *histogram);

/* The region of BIN, and in RET_ADDRESS the address of the bin's first byte in the module's own ELF
   address space (0 in a pseudo module). NULL if no region contains it. */
const struct image_region *histogram_places_find(const struct histogram_places *places,
                                                 uint32_t bin, uint64_t *ret_address);

#endif
