/* SPDX-License-Identifier: Apache-2.0 */
/* The writer may have been killed in the middle of a word, with the whole machine.  The file is
   read as it is; agent/ring's readers trust nothing in it.  Its image table has the mapped files,
   so no other source is needed.

   A histogram counts bins of code.  A bin stands for its first byte, and its records have the
   average weight.  Records without a bin are [unknown] if they were outside of all code, and
   [unsampled] if only their time is known.  A recorder's values are the last of each thread, so its
   profile covers the last moments.

   The bytes are read, not mapped: a writer may still be active, or the disk may fail to deliver a
   page. */
#include "ring_file.h"

#include "ring/histogram_reader.h"
#include "ring/recorder_reader.h"
#include "ring/ring_clock.h"
#include "ring/wide.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((uint64_t)256 << 20)

static int read_bytes(int fd, uint8_t *bytes, uint64_t size) {
  for (uint64_t at = 0; at < size;) {
    ssize_t got = pread(fd, bytes + at, (size_t)(size - at), (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? -errno : -EBADMSG;
    at += (uint64_t)got;
  }
  return 0;
}

static struct batch_module module_of(const struct image_table *image, uint32_t index) {
  const struct image_module *module = &image->modules[index];
  return (struct batch_module){.id = span_of(module->id, module->id_len),
                               .path = module->path,
                               .size_bytes = module->size_bytes,
                               .kind = module->id_len > 0 ? MODULE_ELF : MODULE_PSEUDO};
}

/* ---- histogram ---- */

/* The number of all its records, and their weight. */
static struct histogram_weights weigh(const struct histogram_reader *histogram,
                                      const struct histogram_totals *totals) {
  struct histogram_sum all = {totals->outside + totals->saturated + totals->contended,
                              totals->units};
  struct histogram_cursor cursor = {0};
  struct histogram_bin bin;
  while (histogram_reader_next(histogram, &cursor, &bin)) all.records += bin.count;
  if (all.units < all.records) all.units = all.records; /* read at another time than the counters */
  return histogram_weights_of(all);
}

static int add_bins(struct profile *profile, const struct histogram_reader *histogram,
                    struct histogram_weights *weights) {
  struct histogram_cursor cursor = {0};
  struct histogram_bin bin;
  int error = 0;
  while (error == 0 && histogram_reader_next(histogram, &cursor, &bin)) {
    const struct batch_module module = module_of(&histogram->image, bin.module);
    uint64_t units = histogram_weights_next(weights, bin.count);
    error = profile_add_leaf(profile, &module, bin.address, bin.count, units * histogram->unit_ns);
  }
  return error;
}

static int add_pseudo(struct profile *profile, const char *name, uint64_t count,
                      uint64_t weight_ns) {
  const struct batch_module module = {.path = name, .kind = MODULE_PSEUDO};
  return count > 0 ? profile_add_leaf(profile, &module, 0, count, weight_ns) : 0;
}

static int read_histogram(struct profile *profile, const uint8_t *bytes, uint64_t size,
                          struct image_table *ret_image) {
  static struct histogram_reader histogram; /* static: an image table has 48 KiB */
  struct histogram_totals totals;
  int error = histogram_reader_open(&histogram, bytes, size, true);
  if (error != 0) return error;
  histogram_reader_totals(&histogram, &totals);
  struct histogram_weights weights = weigh(&histogram, &totals);
  error = add_bins(profile, &histogram, &weights);
  uint64_t unplaced = totals.saturated + totals.contended;
  uint64_t unknown_ns = histogram_weights_next(&weights, totals.outside) * histogram.unit_ns;
  uint64_t unplaced_ns = histogram_weights_next(&weights, unplaced) * histogram.unit_ns;
  if (error == 0) error = add_pseudo(profile, "[unknown]", totals.outside, unknown_ns);
  if (error == 0) error = add_pseudo(profile, "[unsampled]", unplaced, unplaced_ns);
  if ((uint64_t)histogram.bin_bytes << image_table_widening(&histogram.image) >
      HISTOGRAM_BIN_BYTES_DEFAULT)
    profile->marks |= MARK_COARSE_BINS;
  if (totals.saturated > 0) profile->marks |= MARK_FULL_COUNTERS;
  *ret_image = histogram.image;
  return error;
}

/* ---- recorder ---- */

static int add_value(struct profile *profile, const struct recorder_reader *recorder,
                     const struct recorder_value *value) {
  uint64_t weight = value->weight * recorder->unit_ns;
  int at = image_table_find(&recorder->image, value->pc);
  if (at < 0) {
    const struct batch_module unknown = {.path = "[unknown]", .kind = MODULE_PSEUDO};
    return profile_add_leaf(profile, &unknown, 0, 1, weight);
  }
  const struct image_region *region = &recorder->image.regions[at];
  const struct batch_module module = module_of(&recorder->image, region->module);
  uint64_t address = module.kind == MODULE_ELF ? value->pc - region->start + region->address : 0;
  return profile_add_leaf(profile, &module, address, 1, weight);
}

static int add_slot(struct profile *profile, const struct recorder_reader *recorder, uint32_t slot,
                    uint64_t *words) {
  struct recorder_log log;
  if (recorder_reader_log(recorder, slot, words, &log) != 0) return 0; /* unused, or malformed */
  int error = 0;
  if (log.was_overwritten) profile->marks |= MARK_LAST_MOMENTS;
  for (uint32_t i = 0; i < log.count && error == 0; i++) {
    const struct recorder_value value = recorder_log_value(&log, words, i);
    error = add_value(profile, recorder, &value);
  }
  return error;
}

static int read_recorder(struct profile *profile, const uint8_t *bytes, uint64_t size,
                         struct image_table *ret_image) {
  static struct recorder_reader recorder;
  int error = recorder_reader_open(&recorder, bytes, size, true);
  if (error != 0) return error;
  uint64_t *words = malloc(recorder.slot_bytes);
  if (words == NULL) error = -ENOMEM;
  for (uint32_t i = 0; i < recorder.slot_count && error == 0; i++)
    error = add_slot(profile, &recorder, i, words);
  free(words);
  *ret_image = recorder.image;
  return error;
}

/* ---- either ---- */

static void note_image(struct profile *profile, const struct image_table *image, uint32_t clock) {
  uint64_t alive_ns = wide_peek(&image->alive_walltime_ns);
  if (profile->start_walltime_ns == 0 || image->start_walltime_ns < profile->start_walltime_ns)
    profile->start_walltime_ns = image->start_walltime_ns;
  if (alive_ns > profile->end_walltime_ns) profile->end_walltime_ns = alive_ns;
  const struct batch_target target = {.service = image->service,
                                      .exe = image->exe,
                                      .module = BATCH_NONE,
                                      .sampler = ring_clock_sampler(clock),
                                      .asked_mhz = image_rate_mhz(image)};
  profile_note_target(profile, &target, profile->count);
  for (uint32_t i = 0; i < profile->module_count && profile->main_module == BATCH_NONE; i++)
    if (strcmp(profile->modules[i].path, image->exe) == 0) profile->main_module = i;
}

static int read_ring(struct profile *profile, const uint8_t *bytes, uint64_t size, char *why) {
  static struct image_table image;
  struct ring_header header;
  memcpy(&header, bytes, sizeof header);
  int error = -EBADMSG;
  snprintf(why, RING_FILE_WHY_BYTES, "is a ring that makes no sense");
  if (header.collect == RING_HISTOGRAM)
    error = read_histogram(profile, bytes, size, &image);
  else if (header.collect == RING_RECORDER)
    error = read_recorder(profile, bytes, size, &image);
  else
    snprintf(why, RING_FILE_WHY_BYTES, "is a ring of stacks, which only its daemon reads");
  if (error == 0) note_image(profile, &image, header.clock);
  if (error == -EPROTO)
    snprintf(why, RING_FILE_WHY_BYTES, "was written by another version of the agent");
  else if (error != 0 && error != -EBADMSG)
    snprintf(why, RING_FILE_WHY_BYTES, "cannot be read: %s", strerror(-error));
  return error;
}

int ring_file_read(int fd, uint64_t size, struct profile *profile, char why[RING_FILE_WHY_BYTES]) {
  if (size < RING_HEADER_BYTES || size > FILE_BYTES_MAX) {
    snprintf(why, RING_FILE_WHY_BYTES, "is a ring of %llu bytes: cut short, or none of ours",
             (unsigned long long)size);
    return -EBADMSG;
  }
  uint8_t *bytes = malloc((size_t)size);
  int error = bytes != NULL ? read_bytes(fd, bytes, size) : -ENOMEM;
  if (error == 0)
    error = read_ring(profile, bytes, size, why);
  else
    snprintf(why, RING_FILE_WHY_BYTES, "cannot be read: %s", strerror(-error));
  free(bytes);
  return error;
}
