/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's side of a ring (ring_format.h): look at a slot once, copy its complete records,
   decode the copy, and release the room. The memory is untrusted: sizes are the daemon's own, never
   read back from the header, and every word is used only from the checked copy. */
#ifndef RING_RING_READER_H
#define RING_RING_READER_H

#include "ring_format.h"

#include <stdbool.h>
#include <stddef.h>

struct ring_reader {
  uint8_t *base;
  uint32_t slot_count, slot_bytes; /* histogram: 0, 0 */
  enum ring_collect collect;
};

/* A snapshot of a slot. An impossible head is clamped, and is_broken set. */
struct ring_view {
  uint32_t slot;
  uint32_t pid, tid; /* 0, 0: free */
  uint64_t head, tail;
  uint64_t dropped_full, dropped_reentry; /* totals reported by the target */
  uint64_t counted_full, counted_reentry;
  bool is_released, is_broken;
  char name[RING_NAME_BYTES + 1];
};

/* A record is a sample, padding, a mark, or half of a mark. */
enum ring_mark_part { RING_MARK_NONE, RING_MARK_WHOLE, RING_MARK_LAST, RING_MARK_FIRST };

struct ring_sample {
  uint32_t weight;
  uint8_t flags;
  enum ring_mark_part mark_part;
  struct ring_mark mark; /* the half in this record; the other is 0 */
  uint32_t depth;
  uint64_t pc[RING_DEPTH_MAX]; /* leaf first */
};

/* Initializes header and slots in zeroed memory of the ring's whole size. The image table and
   counters have their own modules (image_table.h, histogram_layout.h). */
void ring_init(const struct ring_reader *ring, const struct ring_terms *terms);

/* The number of slots ever claimed, from 0; the others are empty. */
uint32_t ring_reader_claimed(const struct ring_reader *ring);

void ring_reader_look(const struct ring_reader *ring, uint32_t slot, struct ring_view *ret);

/* Copies the bytes [view->tail, view->head) of SLOT into BYTES (slot_bytes of room). Returns their
   number. */
size_t ring_reader_copy(const struct ring_reader *ring, uint32_t slot, const struct ring_view *view,
                        uint8_t *bytes);

/* Decodes the record at the start of DATA, which has LEN bytes. Returns its size in bytes
   (RET->depth is 0 for padding), 0 at the end, or -1 if it is invalid: the next record cannot be
   found then. Pure. */
long ring_record_decode(const uint8_t *data, size_t len, struct ring_sample *ret);

/* The same for a ring of pairs. RET->depth is 2 with a link register (flag RING_RECORD_HAS_LR),
   else 1. A PC of 0 was beyond 48 bits. */
long ring_pair_decode(const uint8_t *data, size_t len, struct ring_sample *ret);

/* count stores the losses that the daemon has accounted for. Afterwards release moves the tail,
   which frees the room. */
void ring_reader_count(const struct ring_reader *ring, uint32_t slot, uint64_t full,
                       uint64_t reentry);
void ring_reader_release(const struct ring_reader *ring, uint32_t slot, uint64_t tail);
/* Repairs a broken slot: empty, at TAIL. Otherwise it would stay broken for its thread. */
void ring_reader_mend(const struct ring_reader *ring, uint32_t slot, uint64_t tail);

/* Frees a drained slot for the next thread. A recorder's slot is cleared, and its values are
   lost. */
void ring_reader_free_slot(const struct ring_reader *ring, uint32_t slot);

/* CPU time reported by its processes that ended normally. */
uint64_t ring_reader_exit_cpu_ns(const struct ring_reader *ring);
/* The number of threads without a slot or timer. */
uint32_t ring_reader_unsampled(const struct ring_reader *ring);
/* The number of stacks without room for a signal frame. */
uint32_t ring_reader_cramped(const struct ring_reader *ring);
/* The number of timers refused: by the kernel, or by the agent to leave queued signals to the
   user's other programs. */
uint32_t ring_reader_refused(const struct ring_reader *ring);
/* Incremented before and after each unloading of a library by any of its processes. */
uint32_t ring_reader_unloads(const struct ring_reader *ring);
/* Copies the target's log of unloadings. False if it is being written, or never was. */
bool ring_reader_unload_log(const struct ring_reader *ring, struct unload_log *ret);
/* The number of signals of a process's clock in threads without a slot. */
uint64_t ring_reader_strayed(const struct ring_reader *ring);

#endif
