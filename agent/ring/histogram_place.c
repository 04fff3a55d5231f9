/* SPDX-License-Identifier: Apache-2.0 */
/* An image table is sorted by address, for the handler. Shipping needs the reverse: the code of a
   counter. So the regions are sorted by their bins once, and found by binary search.

   A bin may belong to no region: a worker was killed while it allocated bins (targets/image.c), or
   the target has written into the table. */
#include "histogram_place.h"

#include <stdlib.h>

static int by_first_bin(const void *left, const void *right, void *context) {
  const struct image_region *regions = context;
  const struct image_region *a = &regions[*(const uint32_t *)left];
  const struct image_region *b = &regions[*(const uint32_t *)right];
  return a->first_bin < b->first_bin ? -1 : a->first_bin > b->first_bin;
}

void histogram_places_sort(struct histogram_places *ret, const struct histogram_reader *histogram) {
  const struct image_table *image = &histogram->image;
  ret->histogram = histogram;
  ret->count = image->region_count + image->retired_count;
  for (uint32_t i = 0; i < ret->count; i++) ret->order[i] = i;
  qsort_r(ret->order, ret->count, sizeof ret->order[0], by_first_bin,
          (void *)(uintptr_t)image->regions);
}

const struct image_region *histogram_places_find(const struct histogram_places *places,
                                                 uint32_t bin, uint64_t *ret_address) {
  const struct image_table *image = &places->histogram->image;
  uint32_t low = 0, high = places->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (image->regions[places->order[middle]].first_bin <= bin)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return NULL;
  const struct image_region *region = &image->regions[places->order[low - 1]];
  uint64_t bin_bytes = histogram_region_bin_bytes(places->histogram, region);
  uint64_t offset = (bin - region->first_bin) * bin_bytes;
  if (offset >= region->end - region->start) return NULL;
  *ret_address = image->modules[region->module].id_len > 0 ? region->address + offset : 0;
  return region;
}
