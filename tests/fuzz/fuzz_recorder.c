/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder's ring with arbitrary changes, as after a crash, a power cut or an untrusted writer.
   Every yielded value was a word of the slot, and their number is within the slot's capacity. The
   handler's side continues in it without leaving the slot. */
#include "patches.h"
#include "ring/recorder_reader.h"
#include "ring/recorder_writer.h"
#include "ring/ring_reader.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { SLOTS = 2, WORDS = 8, SLOT_BYTES = 8 * WORDS };
enum { SIZE = RECORDER_OFFSET + SLOTS * (RING_SLOT_HEADER_BYTES + SLOT_BYTES) };

static _Alignas(64) uint8_t ring[SIZE];

static struct ring_slot *slot_at(uint32_t index) {
  uint32_t step = RING_SLOT_HEADER_BYTES + SLOT_BYTES;
  return (struct ring_slot *)(void *)(ring + RECORDER_OFFSET + index * step);
}

static void make(void) {
  struct ring_reader daemon = {
      .base = ring, .slot_count = SLOTS, .slot_bytes = SLOT_BYTES, .collect = RING_RECORDER};
  memset(ring, 0, SIZE);
  ring_init(&daemon, &(struct ring_terms){.period_ns = 10000000, .signal = 61});
  for (uint32_t i = 0; i < SLOTS; i++) {
    uint32_t place = 0;
    slot_at(i)->owner = ring_owner(77, i + 1);
    for (uint64_t value = 1; value < 4 + 9 * i; value++)
      recorder_writer_put(slot_at(i), SLOT_BYTES, 1ULL << RING_PAIR_PC_BITS | value, &place);
  }
}

static void read_slot(const struct recorder_reader *recorder, uint32_t index) {
  struct recorder_log log;
  uint64_t *words = malloc(recorder->slot_bytes);
  if (words == NULL) abort();
  if (recorder_reader_log(recorder, index, words, &log) == 0) {
    if (log.count >= recorder->slot_bytes / 8 || log.older > log.count) abort();
    for (uint32_t i = 0; i < log.count; i++) {
      struct recorder_value value = recorder_log_value(&log, words, i);
      if (value.pc >> RING_PAIR_PC_BITS != 0 || (value.pc == 0 && value.weight == 0)) abort();
    }
  }
  free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  static struct recorder_reader recorder;
  make();
  patches_apply(ring, SIZE, data, len);
  if (recorder_reader_open(&recorder, ring, SIZE, true) == 0)
    for (uint32_t i = 0; i < recorder.slot_count; i++) read_slot(&recorder, i);
  uint64_t next = slot_at(1)->owner;
  uint32_t place = len > 3 ? data[3] * 0x01010101U : 0;
  recorder_writer_put(slot_at(0), SLOT_BYTES, 1, &place);
  if (slot_at(1)->owner != next) abort();
  return 0;
}
