/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram's memory is fixed when its program starts, and programs map more code later. So there
   is room for twice the code that is mapped at the start, and for at least BINS_LEAST bins. If that
   exceeds the limit of a ring, it gets the maximum number of bins, and the largest libraries get
   wider ones (targets/bin_widths.c). A coarse profile of all of a program is better than a fine one
   of half of it.

     | ring_header | image_table | histogram_header | counters | taken | journal |
     0             4096          53248              57344      (only when shipped) */
#include "histogram_layout.h"
#include "power_of_two.h"
#include "ring_reader.h"

enum {
  COUNTERS_OFFSET = HISTOGRAM_OFFSET + HISTOGRAM_HEADER_BYTES,
  BINS_LEAST = 4096,
  BINS_ALIGN = 4096, /* so that counters of any width fill whole pages */
};

bool histogram_shape_is_valid(const struct histogram_shape *shape) {
  bool is_bin = shape->bin_bytes == 0 ||
                (is_power_of_two(shape->bin_bytes) && shape->bin_bytes >= HISTOGRAM_BIN_BYTES_MIN &&
                 shape->bin_bytes <= HISTOGRAM_BIN_BYTES_MAX);
  bool is_counter = shape->counter_bytes == 0 ||
                    (is_power_of_two(shape->counter_bytes) && shape->counter_bytes <= 4);
  return is_bin && is_counter;
}

/* The number of bins for BYTES of code. */
static uint64_t bins_of(const struct histogram_shape *shape, uint64_t bytes) {
  return bytes / shape->bin_bytes + (bytes % shape->bin_bytes != 0);
}

uint64_t histogram_total_bytes(const struct histogram_shape *shape) {
  uint64_t counters = (uint64_t)shape->bin_count * shape->counter_bytes;
  return COUNTERS_OFFSET + counters + (shape->is_shipped ? counters + HISTOGRAM_JOURNAL_BYTES : 0);
}

/* The maximum number of bins of a ring. */
static uint32_t bins_most(const struct histogram_shape *shape) {
  uint64_t bytes = HISTOGRAM_BYTES_MAX - COUNTERS_OFFSET, of_bin = shape->counter_bytes;
  if (shape->is_shipped) {
    bytes -= HISTOGRAM_JOURNAL_BYTES;
    of_bin *= 2;
  }
  uint64_t bins = bytes / of_bin < HISTOGRAM_BINS_MAX ? bytes / of_bin : HISTOGRAM_BINS_MAX;
  return (uint32_t)(bins / BINS_ALIGN * BINS_ALIGN);
}

void histogram_shape_fit(struct histogram_shape *shape, uint64_t text_bytes,
                         uint32_t region_count) {
  if (shape->bin_bytes == 0) shape->bin_bytes = HISTOGRAM_BIN_BYTES_DEFAULT;
  if (shape->counter_bytes == 0) shape->counter_bytes = HISTOGRAM_COUNTER_BYTES_DEFAULT;
  uint64_t bins = 2 * (bins_of(shape, text_bytes) + region_count);
  uint64_t most = bins_most(shape);
  if (bins < BINS_LEAST) bins = BINS_LEAST;
  bins = (bins + BINS_ALIGN - 1) / BINS_ALIGN * BINS_ALIGN;
  shape->bin_count = (uint32_t)(bins < most ? bins : most);
}

bool histogram_shape_is_tight(const struct histogram_shape *shape, uint64_t text_bytes) {
  return bins_of(shape, text_bytes) > histogram_bins_to_give(shape->bin_count);
}

uint64_t histogram_bins_to_give(uint64_t bins_left) {
  return bins_left / 4 * 3;
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
