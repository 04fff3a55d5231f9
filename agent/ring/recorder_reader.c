/* SPDX-License-Identifier: Apache-2.0 */
/* Restores the order of a thread's values:

     words    y  y  0  x  |  0         N = 4; the first zero parts new from old
     yields   x  y  y

   A crash between the handler's two stores leaves two adjacent zeros. A power cut may leave more,
   if pages were written at different times. A zero is never a value, so all nonzero words after the
   first zero are old values.

   A live thread writes while it is read. The copy is valid if head did not move meanwhile. A thread
   adds one value each period, so a second attempt nearly always succeeds. */
#include "recorder_reader.h"
#include "wide.h"

#include <errno.h>
#include <string.h>

enum { COPY_TRIES = 8 };

static int check(const struct ring_header *header, uint64_t size, struct recorder_reader *ret) {
  if (header->magic != RING_MAGIC || header->collect != RING_RECORDER) return -EBADMSG;
  if (header->version != RING_VERSION) return -EPROTO;
  uint32_t bytes = header->slot_bytes;
  if (header->slot_count == 0 || header->slot_count > RING_SLOTS_MAX ||
      (bytes & (bytes - 1)) != 0 || bytes < RECORDER_SLOT_BYTES_MIN ||
      bytes > RING_SLOT_BYTES_MAX || recorder_total_bytes(header->slot_count, bytes) != size)
    return -EBADMSG;
  ret->slot_count = header->slot_count;
  ret->slot_bytes = bytes;
  ret->unit_ns = header->unit_ns;
  ret->clock = header->clock;
  return 0;
}

int recorder_reader_open(struct recorder_reader *ret, const void *ring, uint64_t size,
                         bool is_dead) {
  struct ring_header header;
  if (size < RECORDER_OFFSET) return -EBADMSG;
  memcpy((void *)&header, ring, sizeof header);
  ret->base = ring;
  int error = check(&header, size, ret);
  if (error) return error;
  const uint8_t *image = ret->base + IMAGE_OFFSET;
  return image_table_read((const struct image_table *)(const void *)image, is_dead, &ret->image);
}

static const struct ring_slot *slot_at(const struct recorder_reader *recorder, uint32_t index) {
  uint64_t step = RING_SLOT_HEADER_BYTES + (uint64_t)recorder->slot_bytes;
  return (const struct ring_slot *)(const void *)(recorder->base + RECORDER_OFFSET + index * step);
}

int recorder_log_order(uint64_t *words, uint32_t value_count, struct recorder_log *ret) {
  uint32_t split = 0, end;
  if (wide_is_set(words[value_count])) return -EBADMSG;
  while (wide_is_set(words[split])) split++;
  end = split;
  for (uint32_t i = split; i < value_count; i++)
    if (wide_is_set(words[i])) words[end++] = words[i];
  ret->count = end;
  ret->older = end - split;
  ret->was_overwritten = ret->older != 0 || ret->written > value_count;
  return 0;
}

/* Copies SLOT's words at a moment when its thread adds none. */
static int copy(const struct recorder_reader *recorder, const struct ring_slot *slot,
                uint64_t *words) {
  const uint8_t *data = (const uint8_t *)slot + RING_SLOT_HEADER_BYTES;
  for (int i = 0; i < COPY_TRIES; i++) {
    /* Acquire twice: the words are read between two equal values of head. */
    uint64_t head = wide_load(&slot->head);
    memcpy(words, data, recorder->slot_bytes);
    atomic_thread_fence(memory_order_acquire);
    if (wide_peek(&slot->head) == head) return 0;
  }
  return -EAGAIN;
}

int recorder_reader_log(const struct recorder_reader *recorder, uint32_t index, uint64_t *words,
                        struct recorder_log *ret) {
  const struct ring_slot *slot = slot_at(recorder, index);
  struct recorder_log log = {0};
  uint64_t owner = wide_load(&slot->owner);
  if (owner == 0) return -ENOENT;
  log.pid = (uint32_t)(owner >> 32);
  log.tid = (uint32_t)owner;
  log.is_released = atomic_load_explicit(&slot->state, memory_order_acquire) == RING_RELEASED;
  int error = copy(recorder, slot, words);
  if (error) return error;
  log.written = wide_peek(&slot->head);
  log.dropped = wide_peek(&slot->dropped_full) + wide_peek(&slot->dropped_reentry);
  memcpy(log.name, slot->name, RING_NAME_BYTES);
  error = recorder_log_order(words, recorder->slot_bytes / (uint32_t)sizeof *words - 1, &log);
  if (error) return error;
  *ret = log;
  return 0;
}

struct recorder_value recorder_log_value(const struct recorder_log *log, const uint64_t *words,
                                         uint32_t at) {
  uint32_t newer = log->count - log->older;
  uint64_t word = at < log->older ? words[newer + at] : words[at - log->older];
  return (struct recorder_value){.pc = word & ((1ULL << RING_PAIR_PC_BITS) - 1),
                                 .weight = (uint32_t)(word >> RING_PAIR_PC_BITS)};
}
