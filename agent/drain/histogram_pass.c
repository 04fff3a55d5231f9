/* SPDX-License-Identifier: Apache-2.0 */
/* Compares counters with `taken`, block by block. For each difference the growth goes to the
   window, and the new value to the journal. Counters for which a window or a journal has no room
   stay as they are.

   `outside` has no address: it is [unknown]. `saturated` and `contended` have a time but no place:
   [unsampled]. Bins in no region (image.c) are [unknown], too. So the shipped sum equals the
   handler's own `samples`, with a weight of `units`.

   The number of records and their weight are read at the beginning, and the pass takes no more than
   that: later counts are for the next pass.

   Counters are writable by the target. A growth that all CPUs could not have made since the process
   began is one bad record without weight. */
#include "histogram_pass.h"

#include "common/clock.h"
#include "ring/histogram_place.h"
#include "targets/timer_ring.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALLOWED_EXTRA 10000 /* units, beyond the limit by the clock */

enum { BLOCK_BINS = 256 /* compared at once */ };

struct pass {
  struct drain *drain;
  struct target *target;
  const struct histogram_books *books;
  struct histogram_reader reader;
  uint64_t allowed;                    /* remaining plausible units */
  struct histogram_weights weights;    /* given: in the window */
  uint32_t modules[IMAGE_MODULES_MAX]; /* of the image -> daemon; MODULE_NONE: not requested */
  struct histogram_places places;
};

uint64_t histogram_pass_units_max(const struct target *target) {
  return target_cpu_ns_max(target) / target->held.unit_ns + ALLOWED_EXTRA;
}

static uint32_t find_module(struct pass *pass, uint32_t index) {
  if (pass->modules[index] == MODULE_NONE) {
    const struct image_module *module = &pass->reader.image.modules[index];
    struct batch_module known = {.id = span_of(module->id, module->id_len),
                                 .path = module->path,
                                 .size_bytes = module->size_bytes,
                                 .kind = module->id_len > 0 ? MODULE_ELF : MODULE_PSEUDO};
    pass->modules[index] = modules_adopt(pass->drain->modules, &known);
  }
  return pass->modules[index];
}

static void book_bad(struct pass *pass) {
  pass->drain->figures.bad_records++;
  counter_page_produce(pass->drain->page, 1);
  counter_page_drop(pass->drain->page, LOSS_BAD_RECORD, 1);
}

/* Adds COUNT records in one frame. False if there is no room. */
static bool add_records(struct pass *pass, const struct code_frame *frame, uint64_t count) {
  bool is_place = frame->module != MODULE_UNSAMPLED && frame->module != MODULE_UNKNOWN;
  struct histogram_weights after = pass->weights;
  uint64_t units = histogram_weights_next(&after, count);
  struct drain_frame of = {.frame = *frame,
                           .type = is_place ? SAMPLE_CPU_LR : SAMPLE_CPU,
                           .count = count,
                           .weight_ns = units * pass->target->held.unit_ns};
  if (drain_add_frame(pass->drain, pass->target, &of) < 0) return false;
  pass->weights = after;
  return true;
}

static bool add_bin(struct pass *pass, uint32_t bin, uint32_t count) {
  struct code_frame frame = {.module = MODULE_UNKNOWN};
  const struct image_region *region = histogram_places_find(&pass->places, bin, &frame.address);
  if (region != NULL) frame.module = find_module(pass, region->module);
  return add_records(pass, &frame, count);
}

/* The part of GROWTH with known weight. */
static uint64_t at_most_left(const struct pass *pass, uint64_t growth) {
  uint64_t left = pass->weights.all.records - pass->weights.given.records;
  return growth < left ? growth : left;
}

/* The counter is recorded first: everything in the window is in the journal. Returns false if there
   is no more room, or nothing left to take. */
static bool take_bin(struct pass *pass, uint32_t bin) {
  uint32_t before = histogram_books_taken(pass->books, bin);
  uint32_t now = histogram_reader_count(&pass->reader, bin);
  if (now <= before) return true;
  if (window_is_nearly_full(pass->drain->window)) return false;
  bool is_absurd = now - before > pass->allowed;
  uint32_t count = is_absurd ? now - before : (uint32_t)at_most_left(pass, now - before);
  if (count == 0 || !histogram_books_step(pass->books, bin, before + count)) return false;
  if (is_absurd)
    book_bad(pass);
  else if (!add_bin(pass, bin, count)) {
    histogram_books_step_back(pass->books);
    return false;
  }
  return true;
}

static void take_bins(struct pass *pass) {
  uint32_t bins = pass->books->header->bins_used, width = pass->reader.counter_bytes;
  const uint8_t *counters = pass->reader.base + pass->reader.counters_offset;
  if (bins > pass->reader.bin_count) bins = pass->reader.bin_count;
  for (uint32_t first = 0; first < bins; first += BLOCK_BINS) {
    uint32_t count = bins - first < BLOCK_BINS ? bins - first : BLOCK_BINS;
    size_t at = (size_t)first * width;
    if (memcmp(counters + at, pass->books->taken + at, (size_t)count * width) == 0) continue;
    for (uint32_t bin = first; bin < first + count; bin++)
      if (!take_bin(pass, bin)) return;
  }
}

static void take_rest(struct pass *pass, unsigned rest, uint64_t now) {
  static const uint32_t shown[HISTOGRAM_RESTS] = {MODULE_UNKNOWN, MODULE_UNSAMPLED,
                                                  MODULE_UNSAMPLED};
  const struct code_frame frame = {.module = shown[rest]};
  uint64_t before = pass->books->header->taken_rest[rest];
  if (now <= before) return;
  if (now - before > pass->allowed) {
    book_bad(pass);
    histogram_books_rest(pass->books, rest, now);
    return;
  }
  uint64_t count = at_most_left(pass, now - before);
  if (count > 0 && add_records(pass, &frame, count))
    histogram_books_rest(pass->books, rest, before + count);
}

static void take_all(struct pass *pass, const struct histogram_totals *totals) {
  histogram_places_sort(&pass->places, &pass->reader);
  memset(pass->modules, 0xff, sizeof pass->modules);
  take_bins(pass);
  take_rest(pass, 0, totals->outside);
  take_rest(pass, 1, totals->saturated);
  take_rest(pass, 2, totals->contended);
}

/* Computes the amount to take, and whether it is plausible. A handler adds units before their
   record, so an earlier pass may have given them to other records. The record then has no weight,
   and the sum of all passes still equals the handler's. So single records may lack a unit, but the
   totals must be consistent. */
static bool weigh(struct pass *pass, const struct histogram_totals *totals) {
  struct histogram_sum taken = pass->target->kept.taken;
  struct histogram_sum more = histogram_totals_since(totals, taken);
  uint64_t most = histogram_pass_units_max(pass->target);
  pass->allowed = most > taken.units ? most - taken.units : 0;
  pass->weights = histogram_weights_of(more);
  bool is_weighed = totals->samples <= totals->units;
  return is_weighed && more.records <= pass->allowed && more.units <= pass->allowed;
}

/* False if the headers differ from those that the daemon wrote. */
static bool is_ours(const struct pass *pass) {
  const struct hold_target *held = &pass->target->held;
  return pass->reader.bin_count == held->bin_count &&
         pass->reader.counter_bytes == held->counter_bytes &&
         pass->reader.bin_bytes == held->bin_bytes;
}

struct histogram_sum histogram_pass_run(struct drain *drain, struct target *target,
                                        const struct histogram_books *books) {
  struct pass *pass = calloc(1, sizeof *pass);
  struct histogram_totals totals;
  if (pass == NULL) return (struct histogram_sum){0, 0};
  *pass = (struct pass){.drain = drain, .target = target, .books = books};
  histogram_books_begin(books, clock_boottime_ns());
  int error = histogram_reader_open(&pass->reader, target->ring.base,
                                    timer_ring_bytes(&target->held), true);
  if (error == 0) histogram_reader_totals(&pass->reader, &totals);
  if (error == 0 && is_ours(pass) && weigh(pass, &totals)) {
    take_all(pass, &totals);
  } else if (!target->kept.is_bad) {
    target->kept.is_bad = true;
    book_bad(pass);
  }
  struct histogram_sum given = pass->weights.given, taken = target->kept.taken;
  histogram_books_sum_up(
      books, (struct histogram_sum){taken.records + given.records, taken.units + given.units});
  free(pass);
  return given;
}
