/* SPDX-License-Identifier: Apache-2.0 */
/* Regions claim ranges of bins. The sum of their claims may not exceed the number of bins, so that
   a malicious table costs no more time than a valid one. Counters are read one at a time while
   handlers add to them. Each value is a snapshot, and none is lost, because counters only grow.

   Weights are distributed as a running sum: the rounding error of one bin goes to the next, and the
   last bin gets the rest. */
#include "histogram_reader.h"
#include "histogram_writer.h"
#include "ring_format.h"
#include "wide.h"

#include <errno.h>
#include <string.h>

enum { READS_MAX = 8 }; /* of totals that a handler changes meanwhile */

static bool is_sane(const struct histogram_header *header, uint64_t size) {
  if (!histogram_header_is_sane(header, size)) return false;
  if (header->taken_offset == 0) return true;
  return size >= HISTOGRAM_JOURNAL_BYTES &&
         histogram_header_has_room(header, header->taken_offset, size - HISTOGRAM_JOURNAL_BYTES);
}

static uint64_t bins_of(const struct histogram_reader *histogram,
                        const struct image_region *region) {
  uint64_t bytes = region->end - region->start;
  uint32_t bin_bytes = histogram_region_bin_bytes(histogram, region);
  return bytes / bin_bytes + (bytes % bin_bytes != 0);
}

static bool is_widening(const struct histogram_reader *histogram, unsigned widening) {
  return widening < 32 && (uint64_t)histogram->bin_bytes << widening <= HISTOGRAM_BIN_BYTES_MAX;
}

static bool are_bins(const struct histogram_reader *histogram) {
  const struct image_table *image = &histogram->image;
  uint64_t total = 0;
  for (uint32_t i = 0; i < image->region_count + image->retired_count; i++) {
    if (!is_widening(histogram, image->regions[i].widening)) return false;
    uint64_t bins = bins_of(histogram, &image->regions[i]);
    if (bins > histogram->bin_count ||
        image->regions[i].first_bin > histogram->bin_count - (uint32_t)bins)
      return false;
    total += bins;
  }
  return total <= histogram->bin_count;
}

/* Copies the table again after the daemon has changed it. Returns as histogram_reader_open. */
static int copy_table(struct histogram_reader *histogram, bool is_dead) {
  const uint8_t *image = histogram->base + IMAGE_OFFSET;
  int error =
      image_table_read((const struct image_table *)(const void *)image, is_dead, &histogram->image);
  if (error) return error;
  return are_bins(histogram) ? 0 : -EBADMSG;
}

int histogram_reader_open(struct histogram_reader *ret, const void *ring, uint64_t size,
                          bool is_dead) {
  struct ring_header outer;
  struct histogram_header header;
  if (size < HISTOGRAM_OFFSET + HISTOGRAM_HEADER_BYTES || size > HISTOGRAM_BYTES_MAX)
    return -EBADMSG;
  memcpy((void *)&outer, ring, sizeof outer);
  if (outer.magic != RING_MAGIC || outer.collect != RING_HISTOGRAM) return -EBADMSG;
  if (outer.version != RING_VERSION) return -EPROTO;
  memcpy((void *)&header, (const uint8_t *)ring + HISTOGRAM_OFFSET, sizeof header);
  if (!is_sane(&header, size)) return -EBADMSG;
  ret->base = ring;
  ret->bin_bytes = header.bin_bytes;
  ret->counter_bytes = header.counter_bytes;
  ret->bin_count = header.bin_count;
  ret->counters_offset = header.counters_offset;
  ret->taken_offset = header.taken_offset;
  ret->unit_ns = outer.unit_ns;
  return copy_table(ret, is_dead);
}

bool histogram_reader_is_shipped(const struct histogram_reader *histogram) {
  uint64_t counters = (uint64_t)histogram->bin_count * histogram->counter_bytes;
  return histogram->counters_offset == HISTOGRAM_OFFSET + HISTOGRAM_HEADER_BYTES &&
         histogram->taken_offset == histogram->counters_offset + counters;
}

void histogram_reader_totals(const struct histogram_reader *histogram,
                             struct histogram_totals *ret) {
  const struct histogram_header *header =
      (const struct histogram_header *)(const void *)(histogram->base + HISTOGRAM_OFFSET);
  ret->outside = wide_peek(&header->outside);
  ret->saturated = wide_peek(&header->saturated);
  ret->contended = wide_peek(&header->contended);
  /* Acquire: partner of the handler's release in weigh(). A count of records never includes a
     record with units not yet added. A reader that is preempted between the two loads would get the
     units of many later records, so it reads both again. */
  for (unsigned i = 0; i < READS_MAX; i++) {
    ret->samples = wide_load(&header->samples);
    ret->units = wide_load(&header->units);
    if (wide_peek(&header->samples) == ret->samples) break;
  }
}

struct histogram_sum histogram_totals_since(const struct histogram_totals *totals,
                                            struct histogram_sum before) {
  return (struct histogram_sum){totals->samples > before.records ? totals->samples - before.records
                                                                 : 0,
                                totals->units > before.units ? totals->units - before.units : 0};
}

struct histogram_weights histogram_weights_of(struct histogram_sum all) {
  return (struct histogram_weights){.all = all};
}

/* OF * COUNT / ALL; neither OF nor COUNT exceeds ALL. */
static uint64_t part(uint64_t of, uint64_t count, uint64_t all) {
  int shift = all > UINT32_MAX ? 32 - __builtin_clzll(all) : 0; /* the product has to fit */
  return ((of >> shift) * (count >> shift) / (all >> shift)) << shift;
}

uint64_t histogram_weights_next(struct histogram_weights *weights, uint64_t records) {
  const struct histogram_sum *all = &weights->all;
  uint64_t before = weights->given.units, left = all->records - weights->given.records;
  if (left == 0) return 0;
  weights->given.records += records < left ? records : left;
  if (records < left)
    weights->given.units = all->units / all->records * weights->given.records +
                           part(all->units % all->records, weights->given.records, all->records);
  else
    weights->given.units = all->units;
  return weights->given.units - before;
}

uint32_t histogram_reader_count(const struct histogram_reader *histogram, uint32_t index) {
  const uint8_t *at = histogram->base + histogram->counters_offset;
  at += (uint64_t)index * histogram->counter_bytes;
  switch (histogram->counter_bytes) {
  case 1:
    return *(const volatile uint8_t *)at;
  case 2:
    return *(const volatile uint16_t *)(const void *)at;
  default:
    return *(const volatile uint32_t *)(const void *)at;
  }
}

static void describe(const struct histogram_reader *histogram, const struct histogram_cursor *at,
                     struct histogram_bin *bin) {
  const struct image_region *region = &histogram->image.regions[at->region];
  uint32_t bin_bytes = histogram_region_bin_bytes(histogram, region);
  uint64_t offset = (uint64_t)at->bin * bin_bytes;
  uint64_t left = region->end - region->start - offset;
  bin->index = region->first_bin + at->bin;
  bin->module = region->module;
  bin->address = region->address + offset;
  bin->bytes = left < bin_bytes ? (uint32_t)left : bin_bytes;
}

bool histogram_reader_next(const struct histogram_reader *histogram,
                           struct histogram_cursor *cursor, struct histogram_bin *ret) {
  const struct image_table *image = &histogram->image;
  while (cursor->region < image->region_count + image->retired_count) {
    const struct image_region *region = &image->regions[cursor->region];
    uint32_t bins = (uint32_t)bins_of(histogram, region);
    for (; cursor->bin < bins; cursor->bin++) {
      uint32_t count = histogram_reader_count(histogram, region->first_bin + cursor->bin);
      if (count == 0) continue;
      describe(histogram, cursor, ret);
      ret->count = count;
      cursor->bin++;
      return true;
    }
    cursor->region++;
    cursor->bin = 0;
  }
  return false;
}
