/* SPDX-License-Identifier: Apache-2.0 */
/* A slot is read in one pass. head (acquire, partner of the handler's release) bounds the copy, and
   all decoding uses the daemon's copy. A record may not cross the end of the data, so the copy has
   at most two pieces; a padding record ends the first one.

     data:   |....[rec][rec][rec][pad]|        tail -> head may run over the end
             |[rec][rec]..............|

   A target that writes garbage harms only itself. If head is more than a slot ahead of the tail, or
   a record has an impossible size, the slot's current contents are lost. That counts as one bad
   record, and the reader continues at head. */
#include "ring_reader.h"
#include "recorder_format.h"
#include "wide.h"

#include <string.h>

static struct ring_slot *slot_at(const struct ring_reader *ring, uint32_t slot) {
  uint64_t at = ring_slot_offset(slot, ring->slot_bytes);
  if (ring->collect == RING_RECORDER) at += RECORDER_OFFSET - RING_HEADER_BYTES;
  return (struct ring_slot *)(void *)(ring->base + at);
}

void ring_init(const struct ring_reader *ring, const struct ring_terms *terms) {
  struct ring_header *header = (struct ring_header *)(void *)ring->base;
  header->magic = RING_MAGIC;
  header->version = RING_VERSION;
  header->slot_count = ring->slot_count;
  header->slot_bytes = ring->slot_bytes;
  wide_store(&header->period_ns, terms->period_ns);
  header->unit_ns = terms->unit_ns ? terms->unit_ns : terms->period_ns;
  header->depth_max = terms->depth_max ? terms->depth_max : RING_DEPTH_MAX;
  header->signal = (uint32_t)terms->signal;
  header->collect = ring->collect;
  header->clock = terms->clock;
  header->nudge_token = terms->nudge_token;
  header->begin_cpu_ns = terms->begin_cpu_ns;
  for (uint32_t i = 0; i < ring->slot_count; i++) slot_at(ring, i)->magic = RING_MAGIC;
}

uint32_t ring_reader_claimed(const struct ring_reader *ring) {
  const struct ring_header *header = (const struct ring_header *)(const void *)ring->base;
  uint32_t claimed = atomic_load_explicit(&header->slots_claimed, memory_order_acquire);
  return claimed < ring->slot_count ? claimed : ring->slot_count;
}

/* A recorder's head counts all values ever; a ring's head is at most the data size ahead of its
   tail. */
static uint64_t look_at_head(const struct ring_reader *ring, const struct ring_slot *slot) {
  if (ring->collect == RING_RECORDER) return wide_load(&slot->head);
  return wide_near(&slot->head, wide_peek(&slot->tail));
}

void ring_reader_look(const struct ring_reader *ring, uint32_t slot, struct ring_view *ret) {
  struct ring_slot *from = slot_at(ring, slot);
  memset(ret, 0, sizeof *ret);
  ret->slot = slot;
  uint64_t owner = wide_load(&from->owner);
  ret->pid = (uint32_t)(owner >> 32);
  ret->tid = (uint32_t)owner;
  /* Load the state before head: a thread releases its slot after its last record. */
  ret->is_released = atomic_load_explicit(&from->state, memory_order_acquire) == RING_RELEASED;
  ret->tail = wide_peek(&from->tail);
  ret->head = look_at_head(ring, from);
  if (ring->collect == RING_RECORDER) {
    ret->tail = ret->head; /* head counts values, and there is nothing to drain */
  } else if (ret->head - ret->tail > ring->slot_bytes || (ret->head | ret->tail) % 8 != 0) {
    ret->is_broken = true;
    ret->head &= ~7ULL;
    ret->tail = ret->head;
  }
  ret->counted_full = from->counted_full;
  ret->counted_reentry = from->counted_reentry;
  ret->dropped_full = wide_near(&from->dropped_full, ret->counted_full);
  ret->dropped_reentry = wide_near(&from->dropped_reentry, ret->counted_reentry);
  memcpy(ret->name, from->name, RING_NAME_BYTES);
}

size_t ring_reader_copy(const struct ring_reader *ring, uint32_t slot, const struct ring_view *view,
                        uint8_t *bytes) {
  const uint8_t *data = (const uint8_t *)slot_at(ring, slot) + RING_SLOT_HEADER_BYTES;
  size_t len = (size_t)(view->head - view->tail);
  size_t at = (size_t)(view->tail & (ring->slot_bytes - 1));
  size_t first = len < ring->slot_bytes - at ? len : ring->slot_bytes - at;
  memcpy(bytes, data + at, first);
  memcpy(bytes + first, data, len - first);
  return len;
}

long ring_record_decode(const uint8_t *data, size_t len, struct ring_sample *ret) {
  struct ring_record record;
  if (len == 0) return 0;
  if (len < sizeof record) return -1;
  memcpy(&record, data, sizeof record);
  if (record.size_bytes < sizeof record || record.size_bytes % 8 != 0 || record.size_bytes > len)
    return -1;
  ret->weight = record.weight;
  ret->flags = record.flags;
  ret->depth = 0;
  ret->mark_part = RING_MARK_NONE;
  if (record.flags & RING_RECORD_PADDING) {
    bool is_mark = (record.flags & RING_RECORD_MARK) != 0 &&
                   record.size_bytes == sizeof record + sizeof ret->mark;
    if (is_mark) memcpy(&ret->mark, data + sizeof record, sizeof ret->mark);
    if (is_mark) ret->mark_part = RING_MARK_WHOLE;
    return record.size_bytes;
  }
  if (record.depth == 0 || record.depth > RING_DEPTH_MAX || record.weight == 0 ||
      record.size_bytes != sizeof record + 8U * record.depth)
    return -1;
  memcpy(ret->pc, data + sizeof record, 8U * record.depth);
  ret->depth = record.depth;
  return record.size_bytes;
}

static void decode_mark(const struct ring_pair *pair, struct ring_sample *ret) {
  bool is_last = (pair->pc_weight & RING_PAIR_MARK_LAST) != 0;
  ret->depth = 0;
  ret->flags = 0;
  ret->mark = (struct ring_mark){.unloads = pair->pc_weight & ~RING_PAIR_MARK_LAST};
  ret->mark_part = is_last ? RING_MARK_LAST : RING_MARK_FIRST;
  memcpy(ret->mark.name + (is_last ? sizeof pair->lr : 0), &pair->lr, sizeof pair->lr);
}

long ring_pair_decode(const uint8_t *data, size_t len, struct ring_sample *ret) {
  struct ring_pair pair;
  if (len == 0) return 0;
  if (len < sizeof pair) return -1;
  memcpy(&pair, data, sizeof pair);
  ret->weight = (uint32_t)(pair.pc_weight >> RING_PAIR_PC_BITS);
  ret->mark_part = RING_MARK_NONE;
  if (ret->weight == 0) {
    decode_mark(&pair, ret);
    return sizeof pair;
  }
  ret->pc[0] = pair.pc_weight & ((1ULL << RING_PAIR_PC_BITS) - 1);
  ret->pc[1] = pair.lr;
  ret->depth = pair.lr != 0 ? 2 : 1;
  ret->flags = pair.lr != 0 ? RING_RECORD_HAS_LR : 0;
  return sizeof pair;
}

void ring_reader_count(const struct ring_reader *ring, uint32_t slot, uint64_t full,
                       uint64_t reentry) {
  struct ring_slot *to = slot_at(ring, slot);
  to->counted_full = full;
  to->counted_reentry = reentry;
}

void ring_reader_release(const struct ring_reader *ring, uint32_t slot, uint64_t tail) {
  /* Release: the copy is finished before the handler (acquire) may write there again. */
  wide_store(&slot_at(ring, slot)->tail, tail);
}

/* Only the writer sets head, but the agent's handler never writes an invalid one. So the reader
   resets it. */
void ring_reader_mend(const struct ring_reader *ring, uint32_t slot, uint64_t tail) {
  wide_store(&slot_at(ring, slot)->head, tail);
  ring_reader_release(ring, slot, tail);
}

void ring_reader_free_slot(const struct ring_reader *ring, uint32_t slot) {
  struct ring_slot *to = slot_at(ring, slot);
  atomic_store_explicit(&to->state, RING_LIVE, memory_order_relaxed);
  if (ring->collect == RING_RECORDER) {
    memset((uint8_t *)to + RING_SLOT_HEADER_BYTES, 0, ring->slot_bytes);
    wide_store(&to->head, 0);
  }
  /* Release: the claimer's compare-and-swap sees the state above. */
  wide_store(&to->owner, 0);
}

uint32_t ring_reader_unsampled(const struct ring_reader *ring) {
  const struct ring_header *header = (const struct ring_header *)(const void *)ring->base;
  return atomic_load_explicit(&header->threads_unsampled, memory_order_relaxed);
}

uint32_t ring_reader_cramped(const struct ring_reader *ring) {
  const struct ring_header *header = (const struct ring_header *)(const void *)ring->base;
  return atomic_load_explicit(&header->stacks_cramped, memory_order_relaxed);
}

uint32_t ring_reader_refused(const struct ring_reader *ring) {
  const struct ring_header *header = (const struct ring_header *)(const void *)ring->base;
  return atomic_load_explicit(&header->timers_refused, memory_order_relaxed);
}

uint64_t ring_reader_exit_cpu_ns(const struct ring_reader *ring) {
  const struct ring_header *header = (const struct ring_header *)(const void *)ring->base;
  /* Acquire: after this, all records of those processes are visible. */
  return wide_load(&header->exit_cpu_ns);
}

uint64_t ring_reader_strayed(const struct ring_reader *ring) {
  const struct ring_header *header = (const struct ring_header *)(const void *)ring->base;
  return wide_peek(&header->signals_strayed);
}

uint32_t ring_reader_unloads(const struct ring_reader *ring) {
  const struct ring_header *header = (const struct ring_header *)(const void *)ring->base;
  return atomic_load_explicit(&header->unloads, memory_order_seq_cst);
}

bool ring_reader_unload_log(const struct ring_reader *ring, struct unload_log *ret) {
  const struct ring_header *header = (const struct ring_header *)(const void *)ring->base;
  const struct unload_log *log = &header->unload_log;
  uint32_t before = atomic_load_explicit(&log->serial, memory_order_acquire);
  if (before % 2 != 0) return false;
  memcpy(ret, (const void *)log, sizeof *ret);
  atomic_thread_fence(memory_order_acquire);
  for (unsigned i = 0; i < UNLOAD_IMAGES_MAX; i++)
    ret->images[i].path[UNLOAD_PATH_BYTES - 1] = '\0';
  return ret->is_told == 1 && atomic_load_explicit(&log->serial, memory_order_relaxed) == before;
}
