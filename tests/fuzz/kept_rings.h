/* SPDX-License-Identifier: Apache-2.0 */
/* A good ring as a program and its daemon leave it in the state directory, for targets that spoil
   it: a recorder of two threads, or a histogram of which a part is in a journal. */
#ifndef FUZZ_KEPT_RINGS_H
#define FUZZ_KEPT_RINGS_H

#include "common/clock.h"
#include "ring/histogram_books.h"
#include "ring/image_table.h"
#include "ring/recorder_format.h"
#include "ring/recorder_writer.h"
#include "ring/ring_reader.h"
#include "ring/ring_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT_RINGS_SLOTS = 2, KEPT_RINGS_SLOT_BYTES = 128, KEPT_RINGS_TEXT_BYTES = 2048 };
enum { KEPT_RINGS_PATH_BYTES = 160, KEPT_RINGS_NOBODY = 0x3fffffff };

static const uint64_t kept_rings_text = 0x400000;

static inline void kept_rings_image(uint8_t *ring) {
  struct image_table *image = image_table_of(ring);
  image->region_count = image->module_count = 1;
  image->regions[0] = (struct image_region){
      kept_rings_text, kept_rings_text + KEPT_RINGS_TEXT_BYTES, 0x1000, 0, 0, 0};
  image->modules[0].id_len = 20;
  memcpy(image->modules[0].path, "/usr/bin/x", 11);
  memcpy(image->service, "x", 2);
  image->pid = KEPT_RINGS_NOBODY;
  image->asked_mhz = 100000;
  image->alive_boottime_ns = image->alive_walltime_ns = 1ULL << 50;
}

static inline void kept_rings_recorder(uint8_t *ring, const struct ring_terms *terms) {
  struct ring_reader daemon = {.base = ring,
                               .slot_count = KEPT_RINGS_SLOTS,
                               .slot_bytes = KEPT_RINGS_SLOT_BYTES,
                               .collect = RING_RECORDER};
  ring_init(&daemon, terms);
  for (uint32_t i = 0; i < KEPT_RINGS_SLOTS; i++) {
    uint64_t at = RECORDER_OFFSET + i * (uint64_t)(RING_SLOT_HEADER_BYTES + KEPT_RINGS_SLOT_BYTES);
    struct ring_slot *slot = (struct ring_slot *)(void *)(ring + at);
    uint32_t place = 0;
    slot->owner = ring_owner(77, i + 1);
    for (uint64_t pc = kept_rings_text; pc < kept_rings_text + 20 + 90 * i; pc += 5)
      recorder_writer_put(slot, KEPT_RINGS_SLOT_BYTES, 1ULL << RING_PAIR_PC_BITS | pc, &place);
  }
}

/* NOTE: of the batch that the journal waits for. */
static inline void kept_rings_histogram(uint8_t *ring, size_t size,
                                        const struct histogram_shape *shape,
                                        const struct ring_terms *terms,
                                        struct histogram_note note) {
  struct ring_writer target;
  struct ring_terms told;
  struct histogram_books books;
  uint32_t hint = 0;
  uint64_t end = kept_rings_text + KEPT_RINGS_TEXT_BYTES;
  histogram_init(ring, shape, terms);
  if (ring_writer_init(&target, &told, ring, size) != 0) abort();
  kept_rings_image(ring);
  for (uint64_t pc = kept_rings_text - 64; pc < end; pc += 48)
    histogram_writer_add(&target.histogram, pc, 3, &hint);
  histogram_books_open(&books, ring, shape);
  histogram_books_begin(&books, 1000);
  for (uint32_t bin = 0; bin < shape->bin_count; bin += 4) histogram_books_step(&books, bin, 1);
  histogram_books_sum_up(&books, (struct histogram_sum){9, 27});
  histogram_books_seal(&books, note);
}

/* On the heap; a recorder has no NOTE. */
static inline uint8_t *kept_rings_make(bool is_histogram, struct histogram_note note,
                                       const struct ring_terms *terms, size_t *ret_size) {
  struct histogram_shape shape = {.counter_bytes = 2, .is_shipped = true};
  histogram_shape_fit(&shape, KEPT_RINGS_TEXT_BYTES, 1);
  *ret_size = is_histogram ? histogram_total_bytes(&shape)
                           : recorder_total_bytes(KEPT_RINGS_SLOTS, KEPT_RINGS_SLOT_BYTES);
  uint8_t *ring = calloc(1, *ret_size);
  if (ring == NULL) abort();
  if (is_histogram)
    kept_rings_histogram(ring, *ret_size, &shape, terms, note);
  else
    kept_rings_recorder(ring, terms);
  kept_rings_image(ring);
  return ring;
}

/* The path of target 7 of run 5 in the folder of DIR; BOOT NULL: of this boot. */
static inline void kept_rings_path(const char *dir, const uint8_t *boot, bool is_histogram,
                                   char ret[KEPT_RINGS_PATH_BYTES]) {
  uint8_t this_boot[16];
  clock_boot_id(this_boot);
  if (boot == NULL) boot = this_boot;
  int len = snprintf(ret, KEPT_RINGS_PATH_BYTES, "%s/kept/", dir);
  for (unsigned i = 0; i < sizeof this_boot; i++)
    len += snprintf(ret + len, KEPT_RINGS_PATH_BYTES - (size_t)len, "%02x", (unsigned)boot[i]);
  snprintf(ret + len, KEPT_RINGS_PATH_BYTES - (size_t)len, "-%016x.7.%s", 5,
           is_histogram ? "hist" : "rec");
}

/* Returns the descriptor, open as a program would have it. */
static inline int kept_rings_leave(const char *path, const uint8_t *bytes, size_t size) {
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) abort();
  return fd;
}

#endif
