/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram's ring with arbitrary changes. The reader reads only existing counters. The handler's
   side, set up before or after the change, writes only to counters and sums. */
#include "patches.h"
#include "ring/histogram_layout.h"
#include "ring/histogram_reader.h"
#include "ring/ring_writer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MARGIN = 4096, TEXT_BYTES = 8192 };

static const uint64_t text = 0x400000;
static uint8_t *ring, *before;
static uint64_t size, counters;

static void make(void) {
  struct histogram_shape shape = {.counter_bytes = 1};
  const struct ring_terms terms = {.period_ns = 10000000, .signal = 61};
  histogram_shape_fit(&shape, TEXT_BYTES, 1);
  size = histogram_total_bytes(&shape);
  counters = size - (uint64_t)shape.bin_count * shape.counter_bytes;
  if (ring == NULL) ring = aligned_alloc(64, size + MARGIN);
  if (before == NULL) before = malloc(size + MARGIN);
  if (ring == NULL || before == NULL) abort();
  memset(ring, 0, size + MARGIN);
  histogram_init(ring, &shape, &terms);
  struct image_table *table = image_table_of(ring);
  table->module_count = 1;
  table->region_count = 1;
  table->regions[0] = (struct image_region){text, text + TEXT_BYTES, 0x1000, 0, 0, 0};
}

static void read_all(void) {
  static struct histogram_reader histogram;
  struct histogram_cursor cursor = {0};
  struct histogram_bin bin;
  uint32_t bins = 0;
  if (histogram_reader_open(&histogram, ring, size, true) != 0) return;
  while (histogram_reader_next(&histogram, &cursor, &bin)) {
    if (++bins > histogram.bin_count || bin.index >= histogram.bin_count) abort();
    if (bin.count == 0 || bin.bytes == 0 || bin.module >= histogram.image.module_count) abort();
  }
}

static void add(const struct ring_writer *target) {
  uint32_t hint = 3;
  static const uint64_t pcs[] = {0, text, text + 5000, text + TEXT_BYTES, UINT64_MAX, 1ULL << 40};
  for (unsigned i = 0; i < sizeof pcs / sizeof *pcs; i++)
    histogram_writer_add(&target->histogram, pcs[i], 200, &hint);
}

/* FROM: where stores are allowed from, besides the sums in the header. */
static void check(uint64_t from) {
  if (memcmp(ring, before, HISTOGRAM_OFFSET) != 0) abort();
  if (memcmp(ring + size, before + size, MARGIN) != 0) abort();
  uint64_t behind = HISTOGRAM_OFFSET + sizeof(struct histogram_header);
  if (from > behind && memcmp(ring + behind, before + behind, from - behind) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct ring_writer target, late;
  struct ring_terms terms;
  make();
  if (ring_writer_init(&target, &terms, ring, size) != 0) abort();
  patches_apply(ring, size, data, len);
  read_all();
  memcpy(before, ring, size + MARGIN);
  add(&target);
  check(counters);
  if (ring_writer_init(&late, &terms, ring, size) == 0 && late.collect == RING_HISTOGRAM) {
    memcpy(before, ring, size + MARGIN);
    add(&late);
    check(HISTOGRAM_OFFSET + HISTOGRAM_HEADER_BYTES);
  }
  return 0;
}
