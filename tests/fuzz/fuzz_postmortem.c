/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder with anything changed in it becomes a batch that can be sent, or is refused. */
#include "drain/postmortem.h"
#include "patches.h"

#include "common/buf.h"
#include "proto/batch_codec.h"
#include "proto/limits.h"
#include "ring/recorder_reader.h"
#include "ring/recorder_writer.h"
#include "ring/ring_reader.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { SLOTS = 2, WORDS = 16, SLOT_BYTES = 8 * WORDS };
enum { SIZE = RECORDER_OFFSET + SLOTS * (RING_SLOT_HEADER_BYTES + SLOT_BYTES) };

static _Alignas(64) uint8_t ring[SIZE];

static void make_image(void) {
  struct image_table *image = image_table_of(ring);
  image->region_count = 2;
  image->module_count = 2;
  image->regions[0] = (struct image_region){0x1000, 0x2000, 0x400000, 0, 0, 0};
  image->regions[1] = (struct image_region){0x3000, 0x4000, 0, 1, 0, 0};
  image->modules[0].id_len = 20;
  memcpy(image->modules[0].path, "/usr/bin/x", 11);
  memcpy(image->modules[1].path, "[vdso]", 7);
  memcpy(image->service, "x", 2);
  memcpy(image->exe, "/usr/bin/x", 11);
  memcpy(image->labels, "rack=7\nrecorder=no\n=\nz", 22);
  image->alive_boottime_ns = image->alive_walltime_ns = 1ULL << 50;
}

static void make(void) {
  struct ring_reader daemon = {
      .base = ring, .slot_count = SLOTS, .slot_bytes = SLOT_BYTES, .collect = RING_RECORDER};
  memset(ring, 0, SIZE);
  ring_init(&daemon, &(struct ring_terms){.period_ns = 10000000, .signal = 61});
  make_image();
  for (uint32_t i = 0; i < SLOTS; i++) {
    uint64_t at = RECORDER_OFFSET + i * (uint64_t)(RING_SLOT_HEADER_BYTES + SLOT_BYTES);
    struct ring_slot *slot = (struct ring_slot *)(void *)(ring + at);
    uint32_t place = 0;
    slot->owner = ring_owner(77, i + 1);
    for (uint64_t pc = 0xf00; pc < 0x4100; pc += 0x155)
      recorder_writer_put(slot, SLOT_BYTES, 1ULL << RING_PAIR_PC_BITS | pc, &place);
  }
}

static void check(struct batch *batch) {
  struct buf bytes = {0};
  uint64_t sum = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) sum += batch->samples[i].count;
  if (sum > SLOTS * WORDS) abort();
  if (batch->start_boottime_ns > batch->end_boottime_ns) abort();
  if (batch_encode(batch, &bytes) != 0) abort();
  buf_fini(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct arena arena;
  struct batch batch;
  make();
  patches_apply(ring, SIZE, data, len);
  arena_init(&arena, POSTMORTEM_ARENA_BYTES);
  int error = postmortem_read(ring, SIZE, &arena, &batch);
  if (error == 0) check(&batch);
  if (error != 0 && error != -EBADMSG && error != -EPROTO) abort();
  arena_fini(&arena);
  return 0;
}
