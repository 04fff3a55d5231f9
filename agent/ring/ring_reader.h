/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's half of a ring (ring_format.h): look at a slot once, copy what is complete, decode
   the copy, give the room back.  The memory belongs to a stranger: sizes are the daemon's own,
   never read back from the header, and every word is used only as the copy that was checked. */
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

/* What a slot said at one moment.  A head that makes no sense is clamped and is_broken set. */
struct ring_view {
  uint32_t slot;
  uint32_t pid, tid; /* 0, 0: free */
  uint64_t head, tail;
  uint64_t dropped_full, dropped_reentry; /* totals as the target says them */
  uint64_t counted_full, counted_reentry;
  bool is_released, is_broken;
  char name[RING_NAME_BYTES + 1];
};

/* A record is a sample, padding, or a mark or the half of one. */
enum ring_mark_part { RING_MARK_NONE, RING_MARK_WHOLE, RING_MARK_LAST, RING_MARK_FIRST };

struct ring_sample {
  uint32_t weight;
  uint8_t flags;
  enum ring_mark_part mark_part;
  struct ring_mark mark; /* the half that it is of, the other 0 */
  uint32_t depth;
  uint64_t pc[RING_DEPTH_MAX]; /* leaf first */
};

/* Writes a fresh header and slots into zeroed memory of the ring's whole size.  Image table and
   counters, where it has them, are their own files' business (image_table.h, histogram_layout.h).
 */
void ring_init(const struct ring_reader *ring, const struct ring_terms *terms);

/* The slots from 0 that were ever claimed: nothing is in the others. */
uint32_t ring_reader_claimed(const struct ring_reader *ring);

void ring_reader_look(const struct ring_reader *ring, uint32_t slot, struct ring_view *ret);

/* Copies the bytes [view->tail, view->head) of SLOT into BYTES (slot_bytes of room).  Returns how
   many. */
size_t ring_reader_copy(const struct ring_reader *ring, uint32_t slot, const struct ring_view *view,
                        uint8_t *bytes);

/* Decodes the record at the start of DATA, LEN bytes.  Returns the bytes it takes (RET->depth is 0
   for padding), 0 at the end, or -1 when it makes no sense: what follows it cannot be found then.
   Pure. */
long ring_record_decode(const uint8_t *data, size_t len, struct ring_sample *ret);

/* The same for a ring of pairs: RET->depth is 2 with a link register, marked RING_RECORD_HAS_LR, or
   1 without.  A PC of 0 was beyond 48 bits. */
long ring_pair_decode(const uint8_t *data, size_t len, struct ring_sample *ret);

/* Stores what the daemon has counted; then moves the tail, which gives the room back. */
void ring_reader_count(const struct ring_reader *ring, uint32_t slot, uint64_t full,
                       uint64_t reentry);
void ring_reader_release(const struct ring_reader *ring, uint32_t slot, uint64_t tail);
/* Makes a broken slot whole: empty, at TAIL.  Else it would be broken, and its thread's, for ever.
 */
void ring_reader_mend(const struct ring_reader *ring, uint32_t slot, uint64_t tail);

/* Makes a drained slot free for the next thread; a recorder's is cleared: what it kept is gone. */
void ring_reader_free_slot(const struct ring_reader *ring, uint32_t slot);

/* What its processes that have ended in order said they had spent. */
uint64_t ring_reader_exit_cpu_ns(const struct ring_reader *ring);
/* Threads without a slot or timer. */
uint32_t ring_reader_unsampled(const struct ring_reader *ring);
/* Stacks of threads that have no room for a signal. */
uint32_t ring_reader_cramped(const struct ring_reader *ring);
/* Timers that the kernel, or the agent's regard for its user's other programs, refused. */
uint32_t ring_reader_refused(const struct ring_reader *ring);
/* Raised before and after each unloading of a library by any of its processes. */
uint32_t ring_reader_unloads(const struct ring_reader *ring);
/* Copies what they said of these.  False when it is being written, or never was. */
bool ring_reader_unload_log(const struct ring_reader *ring, struct unload_log *ret);
/* Signals of a process's clock in threads without a slot. */
uint64_t ring_reader_strayed(const struct ring_reader *ring);

#endif
