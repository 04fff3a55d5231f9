/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram's memory is fixed when its program starts, and programs map more code later: so there
   is room for as much again as there was at the start, and never for less than BINS_LEAST bins.
   Where that would be more than a ring may have, bins get coarser, because a coarse answer for all
   of a program says more than a fine one for half of it.

     | ring_header | image_table | histogram_header | counters | taken | journal |
     0             4096          53248              57344      (only when shipped) */
#include "histogram_layout.h"
#include "power_of_two.h"
#include "ring_reader.h"

#include <errno.h>

enum {
  COUNTERS_OFFSET = HISTOGRAM_OFFSET + HISTOGRAM_HEADER_BYTES,
  BINS_LEAST = 4096,
  BINS_ALIGN = 4096, /* so that the counters of any width fill whole pages */
};

bool histogram_shape_is_valid(const struct histogram_shape *shape) {
  bool is_bin = shape->bin_bytes == 0 ||
                (is_power_of_two(shape->bin_bytes) && shape->bin_bytes >= HISTOGRAM_BIN_BYTES_MIN &&
                 shape->bin_bytes <= HISTOGRAM_BIN_BYTES_MAX);
  bool is_counter = shape->counter_bytes == 0 ||
                    (is_power_of_two(shape->counter_bytes) && shape->counter_bytes <= 4);
  return is_bin && is_counter;
}

uint64_t histogram_bins_of(const struct histogram_shape *shape, uint64_t bytes) {
  return bytes / shape->bin_bytes + (bytes % shape->bin_bytes != 0);
}

uint64_t histogram_total_bytes(const struct histogram_shape *shape) {
  uint64_t counters = (uint64_t)shape->bin_count * shape->counter_bytes;
  return COUNTERS_OFFSET + counters + (shape->is_shipped ? counters + HISTOGRAM_JOURNAL_BYTES : 0);
}

/* Bins for SHAPE's bin_bytes, or 0 for too many. */
static uint32_t bins_wanted(const struct histogram_shape *shape, uint64_t text_bytes,
                            uint32_t region_count) {
  uint64_t bins = 2 * (histogram_bins_of(shape, text_bytes) + region_count);
  if (bins < BINS_LEAST) bins = BINS_LEAST;
  bins = (bins + BINS_ALIGN - 1) / BINS_ALIGN * BINS_ALIGN;
  return bins <= HISTOGRAM_BINS_MAX ? (uint32_t)bins : 0;
}

int histogram_shape_fit(struct histogram_shape *shape, uint64_t text_bytes, uint32_t region_count) {
  struct histogram_shape fit = *shape;
  if (fit.bin_bytes == 0) fit.bin_bytes = HISTOGRAM_BIN_BYTES_DEFAULT;
  if (fit.counter_bytes == 0) fit.counter_bytes = HISTOGRAM_COUNTER_BYTES_DEFAULT;
  for (; fit.bin_bytes <= HISTOGRAM_BIN_BYTES_MAX; fit.bin_bytes *= 2) {
    fit.bin_count = bins_wanted(&fit, text_bytes, region_count);
    if (fit.bin_count == 0 || histogram_total_bytes(&fit) > HISTOGRAM_BYTES_MAX) continue;
    *shape = fit;
    return 0;
  }
  return -EOVERFLOW;
}

void histogram_init(void *ring, const struct histogram_shape *shape,
                    const struct ring_terms *terms) {
  ring_init(&(struct ring_reader){.base = ring, .collect = RING_HISTOGRAM}, terms);
  struct histogram_header *header =
      (struct histogram_header *)(void *)((uint8_t *)ring + HISTOGRAM_OFFSET);
  header->bin_bytes = shape->bin_bytes;
  header->counter_bytes = shape->counter_bytes;
  header->bin_count = shape->bin_count;
  header->counters_offset = COUNTERS_OFFSET;
  uint64_t counters = (uint64_t)shape->bin_count * shape->counter_bytes;
  header->taken_offset = shape->is_shipped ? COUNTERS_OFFSET + counters : 0;
}
