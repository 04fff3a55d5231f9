/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the counters beyond `taken`, as a pass over the live histogram would have shipped it
   (histogram_pass.c): under the same names, and without a label, because it is simply the
   remainder. It was counted between the last shipment and the last sign of life.

   Each record has the average weight, and at least one unit.

   A file after a power cut may contain anything: more CPU time than a thousand CPUs could have
   spent in the life of its process is rejected. */
#include "postmortem_parts.h"

#include "common/path.h"
#include "ring/histogram_books.h"
#include "ring/histogram_place.h"
#include "ring/wide.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  CPUS_MAX = 1024,
  ALLOWED_EXTRA = 10000, /* units, beyond the limit by the clock */
  COMM_BYTES = 16,
};

struct reading {
  struct postmortem *left;
  struct histogram_reader histogram;
  struct histogram_books books;
  struct histogram_places places;
  uint32_t thread;
  uint64_t rests[HISTOGRAM_RESTS];
  struct histogram_weights weights;
};

static uint64_t units_max(const struct reading *reading) {
  const struct image_table *image = reading->left->image;
  uint64_t alive = wide_peek(&image->alive_boottime_ns);
  uint64_t age = alive > image->start_boottime_ns ? alive - image->start_boottime_ns : 0;
  uint64_t units = age / reading->left->unit_ns;
  if (units > UINT64_MAX / CPUS_MAX / 2) units = UINT64_MAX / CPUS_MAX / 2;
  return units * CPUS_MAX + ALLOWED_EXTRA;
}

static uint32_t growth(const struct reading *reading, uint32_t bin) {
  uint32_t now = histogram_reader_count(&reading->histogram, bin);
  uint32_t before = histogram_books_taken(&reading->books, bin);
  return now > before ? now - before : 0;
}

static void find_rests(struct reading *reading, const struct histogram_totals *totals) {
  const uint64_t now[HISTOGRAM_RESTS] = {totals->outside, totals->saturated, totals->contended};
  for (unsigned i = 0; i < HISTOGRAM_RESTS; i++) {
    uint64_t before = reading->books.header->taken_rest[i];
    reading->rests[i] = now[i] > before ? now[i] - before : 0;
  }
}

/* Determines the number of records, their places, and their weight. It uses the counters
   themselves: after a power cut `samples` and `units` may be of another moment. Then each record
   weighs at least one unit; otherwise units that the last pass gave to others are not given
   again. */
static int weigh(struct reading *reading, uint64_t *ret_places) {
  struct histogram_totals totals;
  uint64_t allowed = units_max(reading), records = 0;
  *ret_places = 0;
  histogram_reader_totals(&reading->histogram, &totals);
  find_rests(reading, &totals);
  for (uint32_t bin = 0; bin < reading->histogram.bin_count; bin++) {
    uint32_t count = growth(reading, bin);
    records += count;
    *ret_places += count > 0;
  }
  for (unsigned i = 0; i < HISTOGRAM_RESTS; i++) {
    if (records > allowed || reading->rests[i] > allowed - records) return -EBADMSG;
    records += reading->rests[i];
  }
  struct histogram_sum more = histogram_totals_since(&totals, histogram_books_sum(&reading->books));
  bool is_current = more.records >= records && totals.samples <= totals.units;
  if (!is_current && more.units < records) more.units = records;
  more.records = records;
  reading->weights = histogram_weights_of(more);
  return reading->weights.all.units <= allowed ? 0 : -EBADMSG;
}

static int add(struct reading *reading, const struct batch_node *place, uint64_t count) {
  bool is_place = place->module < reading->left->image->module_count;
  uint64_t units = histogram_weights_next(&reading->weights, count);
  const struct postmortem_sample sample = {.place = *place,
                                           .thread = reading->thread,
                                           .type = is_place ? SAMPLE_CPU_LR : SAMPLE_CPU,
                                           .count = count,
                                           .units = units};
  return postmortem_add(reading->left, &sample);
}

static int add_bins(struct reading *reading) {
  int error = 0;
  for (uint32_t bin = 0; bin < reading->histogram.bin_count && !error; bin++) {
    uint32_t count = growth(reading, bin);
    if (count == 0) continue;
    struct batch_node place = {.module = postmortem_unknown(reading->left)};
    const struct image_region *region =
        histogram_places_find(&reading->places, bin, &place.address);
    if (region != NULL) place.module = region->module;
    error = add(reading, &place, count);
  }
  return error;
}

static int add_rests(struct reading *reading) {
  int error = 0;
  for (unsigned i = 0; i < HISTOGRAM_RESTS && !error; i++) {
    const struct batch_node place = {.module = i == 0 ? postmortem_unknown(reading->left)
                                                      : postmortem_unsampled(reading->left)};
    if (reading->rests[i] > 0) error = add(reading, &place, reading->rests[i]);
  }
  return error;
}

/* The name that the live process would have given its first thread. */
static int add_thread(struct reading *reading) {
  char comm[COMM_BYTES];
  snprintf(comm, sizeof comm, "%.15s", path_name(reading->left->image->exe));
  return postmortem_add_thread(reading->left, comm, &reading->thread);
}

static uint64_t span_ns(const struct reading *reading) {
  const struct image_table *image = reading->left->image;
  uint64_t alive = wide_peek(&image->alive_boottime_ns);
  uint64_t taken = reading->books.header->taken_boottime_ns;
  return taken < alive ? alive - taken : 0;
}

static int read_counters(struct reading *reading, const void *ring) {
  const struct histogram_shape shape = {.counter_bytes = reading->histogram.counter_bytes,
                                        .bin_count = reading->histogram.bin_count};
  reading->left->image = &reading->histogram.image;
  histogram_books_open(&reading->books, (void *)(uintptr_t)ring, &shape);
  histogram_places_sort(&reading->places, &reading->histogram);
  struct postmortem_room room = {.threads = 1};
  int error = weigh(reading, &room.places);
  if (!error) error = postmortem_begin(reading->left, &room);
  if (!error) error = add_thread(reading);
  if (!error) error = add_bins(reading);
  if (!error) error = add_rests(reading);
  if (!error) postmortem_set_times(reading->left, span_ns(reading));
  return error;
}

int postmortem_histogram(struct postmortem *left, const void *ring, size_t size) {
  struct reading *reading = calloc(1, sizeof *reading);
  if (reading == NULL) return -ENOMEM;
  reading->left = left;
  int error = histogram_reader_open(&reading->histogram, ring, size, true);
  /* A histogram that is not shipped has no `taken`. */
  if (!error && !histogram_reader_is_shipped(&reading->histogram)) error = -EBADMSG;
  if (!error) error = read_counters(reading, ring);
  free(reading);
  return error;
}
