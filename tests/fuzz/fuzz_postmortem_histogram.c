/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram of an ended program, with arbitrary changes. Its journal is completed or rolled back,
   within the file. The remaining counts become a batch that can be sent, or are rejected.

     input: mode (1 byte: the batch that was announced is in the spool), then patches.h */
#include "drain/postmortem.h"
#include "patches.h"

#include "common/buf.h"
#include "proto/batch_codec.h"
#include "proto/limits.h"
#include "ring/histogram_books.h"
#include "ring/histogram_reader.h"
#include "ring/ring_writer.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MARGIN = 4096, TEXT_BYTES = 2048 };

static const uint64_t text = 0x400000;
static uint8_t *ring;
static uint64_t size;

static void make_image(void) {
  struct image_table *image = image_table_of(ring);
  image->region_count = 1;
  image->module_count = 2;
  image->regions[0] = (struct image_region){text, text + TEXT_BYTES, 0x1000, 0, 0, 0};
  image->modules[0].id_len = 20;
  memcpy(image->modules[0].path, "/usr/bin/x", 11);
  memcpy(image->modules[1].path, "[vdso]", 7);
  memcpy(image->service, "x", 2);
  memcpy(image->exe, "/usr/bin/x", 11);
  image->alive_boottime_ns = image->alive_walltime_ns = 1ULL << 50;
}

/* Some counters, of which a part was taken and a part is announced. */
static void make_counts(const struct histogram_shape *shape) {
  struct ring_writer target;
  struct ring_terms terms;
  struct histogram_books books;
  uint32_t hint = 0;
  if (ring_writer_init(&target, &terms, ring, size) != 0) abort();
  for (uint64_t pc = text - 64; pc < text + TEXT_BYTES; pc += 48)
    histogram_writer_add(&target.histogram, pc, 3, &hint);
  histogram_books_open(&books, ring, shape);
  histogram_books_begin(&books, 1000);
  for (uint32_t bin = 0; bin < shape->bin_count; bin += 4) histogram_books_step(&books, bin, 1);
  histogram_books_sum_up(&books, (struct histogram_sum){9, 27});
  histogram_books_rest(&books, 0, 1);
  histogram_books_seal(&books, (struct histogram_note){9, 3});
}

static void make(void) {
  struct histogram_shape shape = {.counter_bytes = 2, .is_shipped = true};
  const struct ring_terms terms = {.period_ns = 10000000, .signal = 61};
  histogram_shape_fit(&shape, TEXT_BYTES, 1);
  size = histogram_total_bytes(&shape);
  if (ring == NULL) ring = aligned_alloc(64, (size + MARGIN + 63) & ~63ULL);
  if (ring == NULL) abort();
  memset(ring, 0, size);
  memset(ring + size, 0x5a, MARGIN);
  histogram_init(ring, &shape, &terms);
  make_image();
  make_counts(&shape);
}

/* As kept_ship.c does before anything is shipped. */
static void settle(bool is_shipped) {
  static struct histogram_reader histogram;
  struct histogram_books books;
  if (histogram_reader_open(&histogram, ring, size, true) != 0) return;
  if (!histogram_reader_is_shipped(&histogram)) return;
  const struct histogram_shape shape = {.counter_bytes = histogram.counter_bytes,
                                        .bin_count = histogram.bin_count};
  histogram_books_open(&books, ring, &shape);
  histogram_books_settle(&books, is_shipped);
  if (histogram_books_note(&books).run != 0) abort();
  for (uint64_t i = size; i < size + MARGIN; i++)
    if (ring[i] != 0x5a) abort();
}

static void check(struct batch *batch) {
  struct buf bytes = {0};
  if (batch->start_boottime_ns > batch->end_boottime_ns) abort();
  for (uint32_t i = 0; i < batch->sample_count; i++)
    if (batch->samples[i].node >= batch->node_count || batch->samples[i].count == 0) abort();
  if (batch_encode(batch, &bytes) != 0) abort();
  buf_fini(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct arena arena;
  struct batch batch;
  if (len == 0) return 0;
  make();
  patches_apply(ring, size, data + 1, len - 1);
  settle(data[0] & 1);
  arena_init(&arena, POSTMORTEM_ARENA_BYTES);
  int error = postmortem_read(ring, size, &arena, &batch);
  if (error == 0) check(&batch);
  if (error != 0 && error != -EBADMSG && error != -EPROTO) abort();
  arena_fini(&arena);
  return 0;
}
