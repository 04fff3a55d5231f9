/* SPDX-License-Identifier: Apache-2.0 */
/* The histogram: each sample is in a bin or in one of the sums beside them, for any width. No table
   makes the target write outside the counters or the reader loop forever. */
#include "ring/histogram_layout.h"
#include "ring/histogram_reader.h"
#include "ring/histogram_writer.h"
#include "ring/ring_writer.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MARGIN = 4096, THREADS = 4, ADDS = 50000 };
static const uint64_t text = 0x400000, library = 0x7f0000000000;

static struct {
  uint8_t *base;
  uint64_t size;
  struct histogram_shape shape;
  struct ring_writer target;
  struct histogram_reader reader;
  uint32_t hint;
} f;

static void make(uint32_t bin_bytes, uint32_t counter_bytes, bool is_shipped) {
  struct ring_terms terms = {.period_ns = 10000000, .signal = 61};
  f.shape = (struct histogram_shape){
      .bin_bytes = bin_bytes, .counter_bytes = counter_bytes, .is_shipped = is_shipped};
  f.hint = 0;
  assert_true(histogram_shape_is_valid(&f.shape));
  histogram_shape_fit(&f.shape, 8192, 2);
  f.size = histogram_total_bytes(&f.shape);
  free(f.base);
  f.base = calloc(1, f.size + MARGIN);
  memset(f.base + f.size, 0x5a, MARGIN);
  histogram_init(f.base, &f.shape, &terms);
  struct image_table *table = image_table_of(f.base);
  image_table_begin(table);
  table->module_count = 2;
  table->region_count = 2;
  table->regions[0] = (struct image_region){text, text + 4096, 0x1000, 0, 0, 0};
  table->regions[1] =
      (struct image_region){library, library + 4000, 0x26000, 1, 0, 4096 / f.shape.bin_bytes};
  image_table_end(table);
  assert_int_equal(ring_writer_init(&f.target, &terms, f.base, f.size), 0);
}

static int setup(void **state) {
  (void)state;
  make(16, 4, false);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  for (unsigned i = 0; i < MARGIN; i++) assert_int_equal(f.base[f.size + i], 0x5a);
  free(f.base);
  f.base = NULL;
  return 0;
}

static void add(uint64_t pc, uint32_t weight) {
  histogram_writer_add(&f.target.histogram, pc, weight, &f.hint);
}

static struct histogram_header *header(void) {
  return (struct histogram_header *)(void *)(f.base + HISTOGRAM_OFFSET);
}

static int open_it(void) {
  return histogram_reader_open(&f.reader, f.base, f.size, false);
}

static struct histogram_totals totals(void) {
  struct histogram_totals totals;
  assert_int_equal(open_it(), 0);
  histogram_reader_totals(&f.reader, &totals);
  return totals;
}

/* The sum of all bins; RET is the last. */
static uint64_t sum(struct histogram_bin *ret) {
  struct histogram_cursor cursor = {0};
  struct histogram_bin bin;
  uint64_t sum = 0;
  assert_int_equal(open_it(), 0);
  while (histogram_reader_next(&f.reader, &cursor, &bin)) {
    sum += bin.count;
    if (ret != NULL) *ret = bin;
  }
  return sum;
}

static void a_pc_is_found_again_in_its_bin(void **state) {
  (void)state;
  struct histogram_bin bin = {0};
  add(text + 0x123, 3);
  assert_int_equal(sum(&bin), 1);
  assert_int_equal(bin.module, 0);
  assert_int_equal(bin.address, 0x1120);
  assert_int_equal(bin.bytes, 16);
  add(library + 3999, 2);
  assert_int_equal(sum(&bin), 2);
  assert_int_equal(bin.module, 1);
  assert_int_equal(bin.address, 0x26000 + 3984);
  add(text + 0x12f, 1);
  add(text + 0x130, 1);
  assert_int_equal(histogram_reader_count(&f.reader, 0x12), 2);
  assert_int_equal(histogram_reader_count(&f.reader, 0x13), 1);
}

static void a_sample_is_one_record_whatever_it_weighs(void **state) {
  (void)state;
  add(text, 4);
  add(0, 3);
  add(text, 0); /* the handler tries itself */
  histogram_writer_count_reentry(&f.target.histogram, 5);
  struct histogram_totals seen = totals();
  assert_int_equal(seen.samples, 3);
  assert_int_equal(seen.units, 12);
  assert_int_equal(sum(NULL), 1);
  assert_int_equal(seen.outside, 1);
  assert_int_equal(seen.contended, 1);
}

/* The average each, and all of them together. */
static void units_are_shared_out_to_the_last(void **state) {
  (void)state;
  static const struct histogram_sum sums[] = {
      {1, 1}, {1, 9}, {3, 10}, {1000, 1000}, {1000, 3999}, {7ULL << 33, 29ULL << 33}};
  for (unsigned i = 0; i < sizeof sums / sizeof *sums; i++) {
    struct histogram_weights weights = histogram_weights_of(sums[i]);
    uint64_t units = 0, step = sums[i].records / 300 + 1, average = sums[i].units / sums[i].records;
    for (uint64_t taken = 0; taken < sums[i].records; taken += step) {
      uint64_t left = sums[i].records - taken, count = left < step ? left : step;
      uint64_t more = histogram_weights_next(&weights, step);
      assert_in_range(more, count * average, count * (average + 1) + 16);
      units += more;
    }
    assert_int_equal(units, sums[i].units);
    assert_int_equal(histogram_weights_next(&weights, 1), 0);
  }
  struct histogram_weights poor = histogram_weights_of((struct histogram_sum){9, 2});
  assert_int_equal(histogram_weights_next(&poor, 4) + histogram_weights_next(&poor, 5), 2);
}

static void what_lies_in_no_region_is_outside(void **state) {
  (void)state;
  static const uint64_t nowhere[] = {
      0, 1, 0x3fffff, 0x401000, 0x7effffffffff, 0x7f0000000fa0, UINT64_MAX};
  for (unsigned i = 0; i < sizeof nowhere / sizeof *nowhere; i++) add(nowhere[i], 1);
  struct histogram_totals seen = totals();
  assert_int_equal(seen.outside, sizeof nowhere / sizeof *nowhere);
  assert_int_equal(seen.samples, seen.outside);
  assert_int_equal(sum(NULL), 0);
}

static void every_width_saturates_and_says_so(void **state) {
  (void)state;
  for (uint32_t width = 1; width <= 4; width *= 2) {
    make(16, width, false);
    uint64_t max = UINT32_MAX >> (32 - 8 * width);
    uint64_t nearly = max - 2;
    memcpy(f.base + header()->counters_offset + width, &nearly, width); /* the second */
    for (uint32_t i = 0; i < 4; i++)
      for (uint32_t times = 0; times <= i; times++) add(text + i * 16, 5);
    for (unsigned i = 0; i < 9; i++) add(text + 16, 5);
    assert_int_equal(open_it(), 0);
    assert_int_equal(histogram_reader_count(&f.reader, 0), 1);
    assert_int_equal(histogram_reader_count(&f.reader, 1), max);
    assert_int_equal(histogram_reader_count(&f.reader, 2), 3);
    assert_int_equal(histogram_reader_count(&f.reader, 3), 4);
    struct histogram_totals seen = totals();
    assert_int_equal(seen.saturated, 9);
    assert_int_equal(seen.samples, sum(NULL) - nearly + seen.saturated);
    assert_int_equal(seen.units, 5 * seen.samples);
  }
}

static void a_table_that_is_being_changed_is_done_without(void **state) {
  (void)state;
  image_table_begin(image_table_of(f.base));
  add(text, 2);
  image_table_end(image_table_of(f.base));
  struct histogram_totals seen = totals();
  assert_int_equal(seen.contended, 1);
  add(text, 1);
  assert_int_equal(sum(NULL), 1);
  assert_int_equal(totals().samples, 2);
  assert_int_equal(totals().units, 3);
}

static void a_writer_killed_within_a_change_is_mended_by_the_next(void **state) {
  (void)state;
  struct image_table *table = image_table_of(f.base);
  image_table_begin(table);
  assert_int_equal(open_it(), -EAGAIN);
  assert_int_equal(histogram_reader_open(&f.reader, f.base, f.size, true), 0);
  image_table_begin(table);
  image_table_end(table);
  assert_int_equal(open_it(), 0);
}

static void *add_many(void *nothing) {
  (void)nothing;
  uint32_t hint = 0;
  for (uint32_t i = 0; i < ADDS; i++) {
    histogram_writer_add(&f.target.histogram, text + i % 64, 1, &hint);
    histogram_writer_add(&f.target.histogram, library + i % 64, 3, &hint);
  }
  return NULL;
}

static void threads_lose_nothing_between_them(void **state) {
  (void)state;
  for (uint32_t width = 1; width <= 4; width *= 2) {
    make(2, width, true);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, add_many, NULL), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    struct histogram_totals seen = totals();
    assert_int_equal(seen.samples, 2 * THREADS * ADDS);
    assert_int_equal(seen.units, 2 * seen.samples);
    assert_int_equal(sum(NULL) + seen.saturated + seen.contended, seen.samples);
    assert_int_equal(seen.outside, 0);
  }
}

static void what_a_retired_region_counted_is_still_read(void **state) {
  (void)state;
  struct image_table *table = image_table_of(f.base);
  struct histogram_bin bin = {0};
  add(library, 7);
  image_table_begin(table);
  table->region_count = 1;
  table->retired_count = 1;
  image_table_end(table);
  add(library, 1);
  assert_int_equal(totals().outside, 1);
  assert_int_equal(sum(&bin), 1);
  assert_int_equal(bin.module, 1);
}

/* The daemon and every other process of the user can write the table: the target must survive any
   content. */
static void no_table_moves_a_store_out_of_the_counters(void **state) {
  (void)state;
  struct image_table *table = image_table_of(f.base);
  uint8_t head[HISTOGRAM_OFFSET];
  memcpy(head, f.base, sizeof head);
  uint64_t seed = 1;
  for (int round = 0; round < 20000; round++) {
    table->region_count = (uint32_t)(seed >> 33) % 4 == 0 ? UINT32_MAX : 2;
    for (unsigned i = 0; i < 2; i++) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      table->regions[i].start = seed >> 40;
      table->regions[i].end = UINT64_MAX - (seed >> 45);
      table->regions[i].first_bin = (uint32_t)(seed >> 20);
      table->regions[i].widening = (uint16_t)(seed >> 30);
    }
    f.hint = (uint32_t)seed;
    add(seed >> (seed % 64), (uint32_t)(seed >> 50) + 1);
  }
  struct image_table *then = image_table_of(head);
  then->region_count = table->region_count;
  memcpy(then->regions, table->regions, sizeof table->regions);
  assert_memory_equal(head, f.base, sizeof head);
}

#define REFUSED(field, value)                                                        \
  do {                                                                               \
    struct histogram_header before;                                                  \
    struct ring_terms terms;                                                         \
    memcpy((void *)&before, (void *)header(), sizeof before);                        \
    header()->field = (value);                                                       \
    assert_int_equal(ring_writer_init(&f.target, &terms, f.base, f.size), -EBADMSG); \
    assert_int_equal(open_it(), -EBADMSG);                                           \
    memcpy((void *)header(), (void *)&before, sizeof before);                        \
  } while (0)

static void a_header_out_of_its_limits_is_refused_by_both(void **state) {
  (void)state;
  REFUSED(bin_bytes, 0);
  REFUSED(bin_bytes, 1);
  REFUSED(bin_bytes, 24);
  REFUSED(bin_bytes, 8192);
  REFUSED(counter_bytes, 0);
  REFUSED(counter_bytes, 3);
  REFUSED(counter_bytes, 8);
  REFUSED(bin_count, 0);
  REFUSED(bin_count, f.shape.bin_count + 4);
  REFUSED(bin_count, f.shape.bin_count - 1);
  REFUSED(bin_count, UINT32_MAX);
  REFUSED(counters_offset, 0);
  REFUSED(counters_offset, header()->counters_offset + 4);
  REFUSED(counters_offset, header()->counters_offset + 8);
  REFUSED(counters_offset, UINT64_MAX - 7);
  assert_int_equal(open_it(), 0);
}

static void a_table_out_of_its_limits_is_refused_by_the_reader(void **state) {
  (void)state;
  struct image_table *table = image_table_of(f.base);
  struct image_table *before = malloc(sizeof *before);
  memcpy((void *)before, (void *)table, sizeof *before);
#define BAD(...)                                           \
  do {                                                     \
    __VA_ARGS__;                                           \
    assert_int_equal(open_it(), -EBADMSG);                 \
    memcpy((void *)table, (void *)before, sizeof *before); \
  } while (0)
  BAD(table->region_count = IMAGE_REGIONS_MAX + 1);
  BAD(table->region_count = UINT32_MAX);
  BAD(table->retired_count = UINT32_MAX);
  BAD(table->module_count = IMAGE_MODULES_MAX + 1);
  BAD(table->regions[0].module = 2);
  BAD(table->regions[0].end = table->regions[0].start);
  BAD(table->regions[0].end = table->regions[1].start + 1);
  BAD(table->regions[1].address = UINT64_MAX);
  BAD(table->regions[1].end = UINT64_MAX);
  BAD(table->regions[0].first_bin = f.shape.bin_count);
  /* Each region fits, but together they claim more bins than there are. */
  BAD(table->retired_count = 1;
      table->regions[2] =
          (struct image_region){0x900000, 0x900000 + (f.shape.bin_count - 8ULL) * 16, 0, 0, 0, 0});
  BAD(table->regions[0].widening = 9); /* of 16 bytes: 8192 */
  BAD(table->regions[0].widening = UINT16_MAX);
  BAD(memset(table->service, 'a', IMAGE_NAME_BYTES));
  BAD(memset(table->modules[1].path, 'a', IMAGE_PATH_BYTES));
  BAD(table->modules[0].id_len = IMAGE_ID_BYTES + 1);
  free(before);
  assert_int_equal(open_it(), 0);
}

static void a_region_is_found_at_both_ends(void **state) {
  (void)state;
  assert_int_equal(open_it(), 0);
  assert_int_equal(image_table_find(&f.reader.image, text), 0);
  assert_int_equal(image_table_find(&f.reader.image, text + 4095), 0);
  assert_int_equal(image_table_find(&f.reader.image, text + 4096), -1);
  assert_int_equal(image_table_find(&f.reader.image, library), 1);
  assert_int_equal(image_table_find(&f.reader.image, text - 1), -1);
}

static void a_large_program_gets_no_more_memory(void **state) {
  (void)state;
  struct histogram_shape shape = {.bin_bytes = 2, .is_shipped = true};
  histogram_shape_fit(&shape, 4 << 20, 50);
  assert_int_equal(shape.bin_bytes, 2);
  assert_true(histogram_shape_is_tight(&shape, 4 << 20));
  assert_true(histogram_total_bytes(&shape) <= HISTOGRAM_BYTES_MAX);
  histogram_shape_fit(&shape, 1ULL << 40, 1);
  assert_true(histogram_total_bytes(&shape) <= HISTOGRAM_BYTES_MAX);
  shape = (struct histogram_shape){.is_shipped = true};
  histogram_shape_fit(&shape, 23 << 20, 50);
  assert_false(histogram_shape_is_tight(&shape, 23 << 20));
  assert_false(histogram_shape_is_valid(&(struct histogram_shape){.bin_bytes = 3}));
  assert_false(histogram_shape_is_valid(&(struct histogram_shape){.counter_bytes = 8}));
  assert_false(histogram_shape_is_valid(&(struct histogram_shape){.bin_bytes = 8192}));
}

/* A wide region's bin stands for more code, its neighbour's is as it was. */
static void a_region_may_have_wider_bins_than_others(void **state) {
  (void)state;
  struct image_table *table = image_table_of(f.base);
  table->regions[0].widening = 4; /* 256 bytes */
  add(text + 0x2ff, 1);
  add(text + 0x200, 1);
  add(library + 0x1f, 1);
  assert_int_equal(open_it(), 0);
  struct histogram_cursor cursor = {0, 0};
  struct histogram_bin bin;
  assert_true(histogram_reader_next(&f.reader, &cursor, &bin));
  assert_int_equal(bin.address, 0x1200);
  assert_int_equal(bin.bytes, 256);
  assert_int_equal(bin.count, 2);
  assert_true(histogram_reader_next(&f.reader, &cursor, &bin));
  assert_int_equal(bin.address, 0x26010);
  assert_int_equal(bin.bytes, 16);
  assert_int_equal(image_table_widening(&f.reader.image), 4);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(a_pc_is_found_again_in_its_bin),
      CLAIM(a_sample_is_one_record_whatever_it_weighs),
      CLAIM(units_are_shared_out_to_the_last),
      CLAIM(what_lies_in_no_region_is_outside),
      CLAIM(every_width_saturates_and_says_so),
      CLAIM(a_table_that_is_being_changed_is_done_without),
      CLAIM(a_writer_killed_within_a_change_is_mended_by_the_next),
      CLAIM(threads_lose_nothing_between_them),
      CLAIM(what_a_retired_region_counted_is_still_read),
      CLAIM(no_table_moves_a_store_out_of_the_counters),
      CLAIM(a_header_out_of_its_limits_is_refused_by_both),
      CLAIM(a_table_out_of_its_limits_is_refused_by_the_reader),
      CLAIM(a_region_is_found_at_both_ends),
      CLAIM(a_large_program_gets_no_more_memory),
      CLAIM(a_region_may_have_wider_bins_than_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
