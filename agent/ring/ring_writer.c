/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in a signal handler of the target: no libc, no locks, no loops longer than the number of
   slots.

   A record is written in place. Room for the largest record is reserved in one piece, the unwinder
   writes its frames there, and commit advances head by the bytes used. If the end of the data is
   too near, a padding record fills it and the record starts at the front:

     data:   [....used....][record of depth_max   ][end]       head & mask = offset
     or:     [record of depth_max ]....used....[padding]

   head alone marks complete data: it is stored last, with release, the partner of the reader's
   acquire. The tail is loaded with acquire: the reader has copied everything before it.

   Offsets are computed from sizes that were checked when the ring was mapped, and masked. A
   corrupted head or tail can garble records, but never reach outside the slot. */
#include "ring_writer.h"
#include "power_of_two.h"
#include "recorder_format.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

enum {
  PERIOD_MIN_NS = 50000, /* 20 kHz: beyond it a target would do little but take samples */
  SIGNAL_MIN = 34,       /* real-time signals of Linux, without the two that libc reserves */
  SIGNAL_MAX = 64,
};
#define PERIOD_MAX_NS 60000000000ULL

static int is_signal_of(enum ring_clock clock, int signal) {
  switch (clock) {
  case RING_CLOCK_THREAD:
    return signal == SIGURG || (signal >= SIGNAL_MIN && signal <= SIGNAL_MAX);
  case RING_CLOCK_PROF:
    return signal == SIGPROF;
  case RING_CLOCK_VIRTUAL:
    return signal == SIGVTALRM;
  }
  return 0;
}

static int are_terms(const struct ring_terms *terms) {
  return terms->period_ns >= PERIOD_MIN_NS && terms->period_ns <= PERIOD_MAX_NS &&
         terms->unit_ns >= 1 && terms->unit_ns <= terms->period_ns &&
         is_signal_of(terms->clock, terms->signal);
}

static int are_slots(const struct ring_writer *ring, uint32_t least_bytes) {
  return ring->slot_count >= 1 && ring->slot_count <= RING_SLOTS_MAX &&
         is_power_of_two(ring->slot_bytes) && ring->slot_bytes >= least_bytes &&
         ring->slot_bytes <= RING_SLOT_BYTES_MAX && ring->depth_max >= 1 &&
         ring->depth_max <= RING_DEPTH_MAX;
}

/* Checks the parts after the header and stores their addresses. */
static int find_parts(struct ring_writer *ring, uint64_t size) {
  uint64_t slots_offset = RING_HEADER_BYTES;
  uint32_t least_bytes = RING_SLOT_BYTES_MIN;
  switch (ring->collect) {
  case RING_HISTOGRAM:
    if (ring->slot_count != 0 || ring->slot_bytes != 0) return -EBADMSG;
    return histogram_writer_init(&ring->histogram, ring->base, size);
  case RING_RECORDER:
    slots_offset = RECORDER_OFFSET;
    least_bytes = RECORDER_SLOT_BYTES_MIN;
    break;
  case RING_STACKS:
  case RING_PC_LR:
    break;
  default:
    return -EBADMSG;
  }
  uint64_t header_bytes = slots_offset - RING_HEADER_BYTES;
  if (!are_slots(ring, least_bytes) ||
      header_bytes + ring_total_bytes(ring->slot_count, ring->slot_bytes) != size)
    return -EBADMSG;
  ring->slots = ring->base + slots_offset;
  return 0;
}

int ring_writer_init(struct ring_writer *ret, struct ring_terms *ret_terms, void *base,
                     uint64_t size) {
  if (size < RING_HEADER_BYTES) return -EBADMSG;
  const volatile struct ring_header *header = base;
  if (header->magic != RING_MAGIC) return -EBADMSG;
  if (header->version != RING_VERSION) return -EPROTO;
  struct ring_writer ring = {.base = base,
                             .slot_count = header->slot_count,
                             .slot_bytes = header->slot_bytes,
                             .depth_max = header->depth_max,
                             .collect = (enum ring_collect)header->collect,
                             .clock = (enum ring_clock)header->clock};
  struct ring_terms terms = {.period_ns = wide_peek(&((const struct ring_header *)base)->period_ns),
                             .unit_ns = header->unit_ns,
                             .nudge_token = header->nudge_token,
                             .signal = (int)header->signal,
                             .clock = ring.clock};
  if (!are_terms(&terms)) return -EBADMSG;
  int error = find_parts(&ring, size);
  if (error) return error;
  *ret = ring;
  *ret_terms = terms;
  return 0;
}

static struct ring_header *header_of(const struct ring_writer *ring) {
  return (struct ring_header *)(void *)ring->base;
}

static struct ring_slot *slot_at(const struct ring_writer *ring, uint32_t index) {
  uint64_t step = RING_SLOT_HEADER_BYTES + (uint64_t)ring->slot_bytes;
  return (struct ring_slot *)(void *)(ring->slots + index * step);
}

/* Called before the slot has its first record: the daemon reads no slot from this count on. */
static void note_claimed(const struct ring_writer *ring, uint32_t count) {
  _Atomic uint32_t *claimed = &header_of(ring)->slots_claimed;
  uint32_t before = atomic_load_explicit(claimed, memory_order_relaxed);
  while (before < count &&
         !atomic_compare_exchange_weak_explicit(claimed, &before, count, memory_order_release,
                                                memory_order_relaxed)) {
  }
}

struct ring_slot *ring_writer_claim(const struct ring_writer *ring, uint64_t owner,
                                    const char *name) {
  for (uint32_t i = 0; i < ring->slot_count; i++) {
    struct ring_slot *slot = slot_at(ring, i);
    if (wide_peek(&slot->owner) != 0) continue;
    /* Acquire: partner of the daemon's release when it freed the slot, after its last read. */
    if (!wide_swap(&slot->owner, 0, owner)) continue;
    slot->generation++;
    note_claimed(ring, i + 1);
    for (unsigned at = 0; at < RING_NAME_BYTES; at++) slot->name[at] = name[at];
    return slot;
  }
  return NULL;
}

void ring_writer_release(struct ring_slot *slot) {
  /* Release: a reader that sees this sees the last record. */
  atomic_store_explicit(&slot->state, RING_RELEASED, memory_order_release);
}

static uint32_t record_bytes(uint32_t depth) {
  return (uint32_t)sizeof(struct ring_record) + depth * (uint32_t)sizeof(uint64_t);
}

static void *record_at(struct ring_slot *slot, uint32_t offset) {
  return (uint8_t *)slot + RING_SLOT_HEADER_BYTES + offset;
}

/* Fills the GAP bytes at OFFSET, up to the end of the data, with one record to skip. */
static void pad(struct ring_slot *slot, uint32_t offset, uint32_t gap) {
  struct ring_record *record = record_at(slot, offset);
  record->size_bytes = (uint16_t)gap;
  record->depth = 0;
  record->flags = RING_RECORD_PADDING;
  record->weight = 0;
}

/* Words of the longest record: frames, or a mark. */
static uint32_t words_max(const struct ring_writer *ring) {
  const uint32_t mark = sizeof(struct ring_mark) / sizeof(uint64_t);
  _Static_assert(sizeof(struct ring_mark) % sizeof(uint64_t) == 0, "a mark is whole words");
  _Static_assert(sizeof(struct ring_mark) <= 8 * RING_DEPTH_MAX, "two must fit in any slot");
  return ring->depth_max > mark ? ring->depth_max : mark;
}

struct ring_record *ring_writer_reserve(const struct ring_writer *ring, struct ring_slot *slot) {
  uint64_t head = wide_peek(&slot->head) & ~7ULL;
  uint64_t tail = wide_near(&slot->tail, head);
  uint32_t needed = record_bytes(words_max(ring));
  uint32_t offset = (uint32_t)head & (ring->slot_bytes - 1);
  uint32_t to_end = ring->slot_bytes - offset;
  uint32_t gap = to_end < needed ? to_end : 0;
  if (head - tail > ring->slot_bytes || head - tail + gap + needed > ring->slot_bytes) {
    ring_writer_count_full(slot, 1);
    return NULL;
  }
  if (gap == 0) return record_at(slot, offset);
  pad(slot, offset, gap);
  /* Release: a padding record is complete like any other. */
  wide_store(&slot->head, head + gap);
  return record_at(slot, 0);
}

void ring_writer_commit(struct ring_slot *slot, struct ring_record *record) {
  uint64_t head = wide_peek(&slot->head) & ~7ULL;
  record->size_bytes = (uint16_t)record_bytes(record->depth);
  /* Release: the record is complete for the reader that acquires this head. */
  wide_store(&slot->head, head + record->size_bytes);
}

void ring_writer_count_unsampled(const struct ring_writer *ring) {
  atomic_fetch_add_explicit(&header_of(ring)->threads_unsampled, 1, memory_order_relaxed);
}

void ring_writer_count_cramped(const struct ring_writer *ring) {
  atomic_fetch_add_explicit(&header_of(ring)->stacks_cramped, 1, memory_order_relaxed);
}

void ring_writer_count_refused(const struct ring_writer *ring) {
  atomic_fetch_add_explicit(&header_of(ring)->timers_refused, 1, memory_order_relaxed);
}

uint32_t ring_writer_count_unload(const struct ring_writer *ring) {
  /* Sequentially consistent, for both orders: a reader of mappings or samples sees this before the
     change that it announces. */
  return atomic_fetch_add_explicit(&header_of(ring)->unloads, 1, memory_order_seq_cst) + 1;
}

struct unload_log *ring_writer_unload_log(const struct ring_writer *ring) {
  return &header_of(ring)->unload_log;
}

void ring_writer_count_strayed(const struct ring_writer *ring) {
  wide_add(&header_of(ring)->signals_strayed, 1);
}

void ring_writer_count_full(struct ring_slot *slot, uint32_t count) {
  /* Only this handler writes the counter, so a load and a store suffice, and are cheaper. */
  wide_store(&slot->dropped_full, wide_peek(&slot->dropped_full) + count);
}

void ring_writer_count_reentry(struct ring_slot *slot) {
  wide_add(&slot->dropped_reentry, 1);
}
