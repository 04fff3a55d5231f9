/* SPDX-License-Identifier: Apache-2.0 */
/* A complete drain of rings with arbitrary content: stacks, pairs, a histogram and a recorder. Each
   is changed anywhere and drained twice into one window. The counters must add up.

     input: mode (1 byte), then patches.h; the second drain comes after the second half of them */
#include "drain/drain.h"
#include "patches.h"
#include "targets/image.h"
#include "targets/timer_ring.h"

#include "ring/histogram_format.h"
#include "ring/histogram_reader.h"
#include "ring/recorder_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { SLOT_BYTES = 4096, SLOTS = 2, BINS = 4096, MODES = 4, LAST_VALUES = 62 };

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

static struct hold_target describe(unsigned mode) {
  struct hold_target held = {.id = 1,
                             .kind = HOLD_TIMER,
                             .collect = mode,
                             .pid = getpid(),
                             .uid = getuid(),
                             .fd_count = 1,
                             .asked_mhz = 100000,
                             .period_ns = 10000000};
  if (mode == RING_HISTOGRAM)
    timer_ring_size_histogram(&held, 1 << 12, 2);
  else if (mode == RING_RECORDER)
    timer_ring_size_recorder(&held, LAST_VALUES, 0);
  else
    held.unit_ns = 1000, held.slot_bytes = SLOT_BYTES;
  if (mode != RING_HISTOGRAM) held.slot_count = SLOTS;
  return held;
}

/* Slots with records and an owner, so that small patches reach far. */
static void prepare(const struct target *target) {
  if (target->held.collect == RING_HISTOGRAM) return;
  ((struct ring_header *)(void *)target->ring.base)->slots_claimed = target->held.slot_count;
  for (uint32_t i = 0; i < target->held.slot_count; i++) {
    uint64_t at = ring_slot_offset(i, target->held.slot_bytes);
    if (target->held.collect == RING_RECORDER) at += RECORDER_OFFSET - RING_HEADER_BYTES;
    struct ring_slot *slot = (struct ring_slot *)(void *)(target->ring.base + at);
    uint8_t *bytes = (uint8_t *)slot + RING_SLOT_HEADER_BYTES;
    struct ring_record record = {.size_bytes = sizeof record + 16, .depth = 2, .weight = 10};
    uint64_t pcs[2] = {(uintptr_t)&prepare, (uintptr_t)&describe};
    slot->owner = ring_owner((uint32_t)getpid(), (uint32_t)getpid());
    slot->head = 2 * record.size_bytes;
    for (unsigned k = 0; k < 2; k++) {
      memcpy(bytes + k * record.size_bytes, &record, sizeof record);
      memcpy(bytes + k * record.size_bytes + sizeof record, pcs, sizeof pcs);
    }
  }
}

struct pipeline {
  struct targets targets;
  struct drain drain;
};

/* Pending counts of a histogram are not yet in the counters. */
static void check(const struct pipeline *pipeline, const struct target *target) {
  const struct counters *books = counter_page_books(pipeline->drain.page);
  uint64_t dropped = 0, waiting = target->kept.waiting.records;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) dropped += books->dropped[i];
  if (books->produced - dropped + waiting != window_records(pipeline->drain.window)) abort();
}

static void drain_twice(struct pipeline *pipeline, struct target *target, const uint8_t *data,
                        size_t len) {
  size_t size = (size_t)timer_ring_bytes(&target->held), half = len / 2;
  struct process *process = processes_get(pipeline->drain.processes, getpid(), 1, -1);
  if (target->held.collect >= RING_HISTOGRAM && process != NULL) {
    image_begin(target, process);
    image_update(target, pipeline->drain.modules, process);
  }
  prepare(target);
  patches_apply(target->ring.base, size, data, half);
  drain_run(&pipeline->drain);
  check(pipeline, target);
  patches_apply(target->ring.base, size, data + half, len - half);
  drain_reclaim_slots(target, 0);
  drain_run_whole(&pipeline->drain);
  check(pipeline, target);
}

static void open_pipeline(struct pipeline *pipeline, struct counter_page *page) {
  static struct perf_rings no_perf;
  struct modules *modules;
  struct processes *processes;
  struct window *window;
  memset(pipeline, 0, sizeof *pipeline);
  if (modules_new(on_file, NULL, &modules) != 0 || processes_new(modules, &processes) != 0 ||
      window_new(modules, &window) != 0)
    abort();
  pipeline->drain = (struct drain){.page = page,
                                   .targets = &pipeline->targets,
                                   .processes = processes,
                                   .modules = modules,
                                   .window = window,
                                   .perf = &no_perf};
  if (drain_init(&pipeline->drain) != 0) abort();
}

static void close_pipeline(struct pipeline *pipeline) {
  drain_fini(&pipeline->drain);
  window_free(pipeline->drain.window);
  processes_free(pipeline->drain.processes);
  modules_free(pipeline->drain.modules);
  targets_fini(&pipeline->targets);
}

static struct counter_page *open_page(void) {
  char dir[] = "/tmp/fuzz-drain.XXXXXX", path[64];
  struct counter_page *page;
  if (mkdtemp(dir) == NULL) abort();
  snprintf(path, sizeof path, "%s/books", dir);
  if (counter_page_open(path, 1, &page) != 0) abort();
  unlink(path);
  rmdir(dir);
  return page;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct pipeline pipeline;
  if (len == 0) return 0;
  struct hold_target held = describe(data[0] % MODES);
  struct counter_page *page = open_page();
  int fd = timer_ring_make(&held);
  open_pipeline(&pipeline, page);
  struct target *target = fd >= 0 ? targets_add_take(&pipeline.targets, &held, &fd) : NULL;
  if (target == NULL) abort();
  drain_twice(&pipeline, target, data + 1, len - 1);
  close_pipeline(&pipeline);
  counter_page_close(page);
  return 0;
}
