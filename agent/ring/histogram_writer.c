/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in a signal handler of the target, in all of its threads at once.

   Nearly all samples hit the same region as the last one, so that region is tried first: one cache
   line of the table. Otherwise a binary search follows. The daemon changes the table concurrently,
   under a sequence lock. A reader that meets a change twice gives up: it may have interrupted any
   code and must not wait.

   A bin is always checked against a count that was checked at set-up and lies in private memory. So
   a corrupted table causes wrong counts, but never a store outside the counters.

   A counter of 1, 2 or 4 bytes is changed by compare-and-swap of the aligned word that holds it. So
   all widths share one code path, and a full counter never overflows into its neighbour. */
#include "histogram_writer.h"
#include "power_of_two.h"
#include "wide.h"

#include <errno.h>
#include <stddef.h>

enum {
  TABLE_TRIES = 2,
  COUNTER_TRIES = 8,
};

enum found { FOUND, OUTSIDE, CHANGING };

int histogram_header_has_room(const struct histogram_header *header, uint64_t offset,
                              uint64_t size) {
  uint64_t bytes = (uint64_t)header->bin_count * header->counter_bytes;
  return offset % 8 == 0 && offset >= HISTOGRAM_OFFSET + HISTOGRAM_HEADER_BYTES && offset <= size &&
         bytes <= size - offset;
}

int histogram_header_is_sane(const struct histogram_header *header, uint64_t size) {
  return is_power_of_two(header->bin_bytes) && header->bin_bytes >= HISTOGRAM_BIN_BYTES_MIN &&
         header->bin_bytes <= HISTOGRAM_BIN_BYTES_MAX && is_power_of_two(header->counter_bytes) &&
         header->counter_bytes <= 4 && header->bin_count != 0 && header->bin_count % 4 == 0 &&
         header->bin_count <= HISTOGRAM_BINS_MAX &&
         histogram_header_has_room(header, header->counters_offset, size);
}

/* By hand: not every CPU has an instruction for it. */
static uint8_t log_of(uint32_t power_of_two) {
  uint8_t log = 0;
  while (power_of_two >> log > 1) log++;
  return log;
}

int histogram_writer_init(struct histogram_writer *ret, void *ring, uint64_t size) {
  if (size < HISTOGRAM_OFFSET + HISTOGRAM_HEADER_BYTES || size > HISTOGRAM_BYTES_MAX)
    return -EBADMSG;
  struct histogram_header *shared = (void *)((uint8_t *)ring + HISTOGRAM_OFFSET);
  const volatile struct histogram_header *once = shared;
  struct histogram_header header = {.bin_bytes = once->bin_bytes,
                                    .counter_bytes = once->counter_bytes,
                                    .bin_count = once->bin_count,
                                    .counters_offset = once->counters_offset};
  if (!histogram_header_is_sane(&header, size)) return -EBADMSG;
  *ret = (struct histogram_writer){
      .counters = (uint8_t *)ring + header.counters_offset,
      .image = (const void *)((uint8_t *)ring + IMAGE_OFFSET),
      .header = shared,
      .bin_count = header.bin_count,
      .counter_max = UINT32_MAX >> (32 - 8 * header.counter_bytes),
      .bin_shift = log_of(header.bin_bytes),
      .counter_shift = log_of(header.counter_bytes),
  };
  return 0;
}

static void count(_Atomic uint64_t *counter, uint32_t records) {
  wide_add(counter, records);
}

/* Adds WEIGHT. Returns the number of records: 1, or 0 for a trial run of the handler. */
static uint32_t weigh(struct histogram_header *header, uint32_t weight) {
  uint32_t records = weight != 0;
  wide_add(&header->units, weight);
  /* Release: partner of the acquire in histogram_reader.c. A reader that sees the record also sees
     its units. */
  wide_add(&header->samples, records);
  return records;
}

/* The region of PC in the table at this moment, which may be inconsistent. NULL if there is
   none. */
static const volatile struct image_region *search(const volatile struct image_table *image,
                                                  uint64_t pc, uint32_t *hint) {
  uint32_t low = 0, high = image->region_count, at = *hint;
  if (high > IMAGE_REGIONS_MAX) return NULL;
  if (at >= high) at = high / 2;
  while (low < high) {
    const volatile struct image_region *region = &image->regions[at];
    if (pc < region->start)
      high = at;
    else if (pc >= region->end)
      low = at + 1;
    else {
      *hint = at;
      return region;
    }
    at = low + (high - low) / 2;
  }
  return NULL;
}

/* The shift is always within 64 bits, whatever the table contains. */
static uint64_t bin_of(const struct histogram_writer *histogram,
                       const volatile struct image_region *region, uint64_t pc) {
  unsigned shift = (unsigned)histogram->bin_shift + region->widening;
  return region->first_bin + ((pc - region->start) >> shift % 64);
}

static enum found find(const struct histogram_writer *histogram, uint64_t pc, uint32_t *hint,
                       uint64_t *ret_bin) {
  const struct image_table *image = histogram->image;
  for (int i = 0; i < TABLE_TRIES; i++) {
    /* Acquire: partner of the writer's release at the end of a change. */
    uint32_t serial = atomic_load_explicit(&image->serial, memory_order_acquire);
    if (serial % 2 != 0) continue;
    const volatile struct image_region *region = search(image, pc, hint);
    uint64_t bin = 0;
    if (region != NULL) bin = bin_of(histogram, region, pc);
    /* This second load follows the reads above: partner of the release fence at the start of a
       change. */
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&image->serial, memory_order_relaxed) != serial) continue;
    *ret_bin = bin;
    return region != NULL && bin < histogram->bin_count ? FOUND : OUTSIDE;
  }
  return CHANGING;
}

static void add(const struct histogram_writer *histogram, uint64_t bin, uint32_t records) {
  uint64_t at = bin << histogram->counter_shift;
  _Atomic uint32_t *word = (_Atomic uint32_t *)(void *)(histogram->counters + (at & ~3ULL));
  uint32_t shift = 8 * (uint32_t)(at & 3);
  if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) shift = 32 - shift - (8U << histogram->counter_shift);
  uint32_t max = histogram->counter_max;
  uint32_t old = atomic_load_explicit(word, memory_order_relaxed);
  for (int i = 0; i < COUNTER_TRIES; i++) {
    if ((old >> shift & max) == max) {
      count(&histogram->header->saturated, records);
      return;
    }
    if (atomic_compare_exchange_weak_explicit(word, &old, old + (records << shift),
                                              memory_order_relaxed, memory_order_relaxed))
      return;
  }
  count(&histogram->header->contended, records);
}

void histogram_writer_add(const struct histogram_writer *histogram, uint64_t pc, uint32_t weight,
                          uint32_t *hint) {
  struct histogram_header *header = histogram->header;
  uint64_t bin;
  uint32_t records = weigh(header, weight);
  switch (find(histogram, pc, hint, &bin)) {
  case FOUND:
    add(histogram, bin, records);
    return;
  case OUTSIDE:
    count(&header->outside, records);
    return;
  case CHANGING:
    count(&header->contended, records);
    return;
  }
}

void histogram_writer_count_reentry(const struct histogram_writer *histogram, uint32_t weight) {
  count(&histogram->header->contended, weigh(histogram->header, weight));
}
