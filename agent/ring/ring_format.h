/* SPDX-License-Identifier: Apache-2.0 */
/* THE CONTRACT between a target and the daemon: the layout of the sealed memfd (or preallocated
   file) that the daemon makes, touches and hands over, and that the handler writes into.

     0        ring_header (4 KiB)
     4096     by what is collected (enum ring_collect):
                stacks, pc-lr   slots: ring_slot (256 bytes) + data (slot_bytes), slot_count times
                histogram       image_table, counters           (image_format.h, histogram_format.h)
                recorder        image_table, slots as above     (recorder_format.h)

   A slot belongs to one thread.  The thread's handler is its only producer, the daemon its only
   consumer, so a slot is a plain single-producer single-consumer byte ring: `head` and `tail`
   count bytes for ever, a record never wraps (a padding record fills the end), and every record
   is a multiple of 8 bytes.  A record is complete when `head` covers it: a target that dies in
   the handler leaves no half record.

   The other side of the memory is a stranger: the daemon copies each word once, checks the copy
   and uses only the copy; the target trusts only offsets that it computed itself.

   Growth: version is checked by both sides; fields are only added in the reserved room. */
#ifndef RING_RING_FORMAT_H
#define RING_RING_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

enum {
  RING_MAGIC = 0x474e5246, /* "FRNG" */
  RING_VERSION = 2,
  RING_HEADER_BYTES = 4096,
  RING_SLOT_HEADER_BYTES = 256,
  RING_DEPTH_MAX = 128,
  RING_SLOTS_MAX = 1024,
  RING_SLOT_BYTES_MIN = 4096, /* at least two of the largest records */
  RING_SLOT_BYTES_MAX = 1 << 20,
  RING_SLOTS_DEFAULT = 32, /* the least that a ring gets; up to WIDE while memory allows */
  RING_SLOTS_MIDDLE = 64,
  RING_SLOTS_WIDE = 128,
  RING_SLOT_BYTES_DEFAULT = 8192, /* at 99 Hz and 200 bytes a record: 400 ms */
  RING_NAME_BYTES = 16,
};

enum ring_collect { RING_STACKS = 0, RING_PC_LR = 1, RING_HISTOGRAM = 2, RING_RECORDER = 3 };

/* Which clock makes the signals. */
enum ring_clock { RING_CLOCK_THREAD = 0, RING_CLOCK_PROF = 1, RING_CLOCK_VIRTUAL = 2 };

/* PAUSE deletes the timers and OFF does it for good.  The target obeys at its next sample, thread
   or fork; one that has no timers is woken by a nudge: the daemon queues the ring's signal, with
   nudge_token as its value, to one of its threads. */
enum ring_control { RING_RUN = 0, RING_PAUSE = 1, RING_OFF = 2 };

enum ring_cost_unit {
  RING_COST_NONE = 0,
  RING_COST_TICKS = 1 /* of the CPU's counter */,
  RING_COST_NS = 2
};

enum { RING_COST_BUCKETS = 32 /* bucket n: from 2^n up to 2^(n+1) units */ };

/* Set by the daemon before hand-over unless said otherwise. */
struct ring_header {
  uint32_t magic;
  uint32_t version;
  uint32_t slot_count;
  uint32_t slot_bytes;        /* data bytes of each slot, a power of two */
  _Atomic uint64_t period_ns; /* CPU time between samples; the daemon may change it any time */
  uint32_t depth_max;         /* frames a record may hold */
  uint32_t signal;            /* the signal to use: a real-time one, or that of the clock */
  uint32_t collect;           /* enum ring_collect */
  uint32_t clock;             /* enum ring_clock */
  uint64_t nudge_token;       /* random */
  _Atomic uint32_t control;   /* enum ring_control; the daemon may change it any time */
  _Atomic uint32_t serial;    /* raised by the daemon after it changed control or period_ns */
  _Atomic uint32_t may_call;  /* by the daemon with each change: no thread of the target has a
                                 seccomp filter, so the handler may set its timers */
  /* Below: by the target. */
  _Atomic uint32_t serial_seen;
  _Atomic uint32_t threads_armed;     /* that have a timer now */
  _Atomic uint32_t threads_unsampled; /* no free slot, or no timer to be had */
  _Atomic uint32_t timers_refused;    /* timer_create said no */
  uint32_t cost_unit;                 /* enum ring_cost_unit */
  _Atomic uint64_t exit_cpu_ns;       /* CPU time of the process as it ended in order; else 0 */
  _Atomic uint32_t cost[RING_COST_BUCKETS]; /* what one in 16 runs of the handler took */
};

/* owner: pid << 32 | tid, 0 when free.  A thread claims a free slot by compare-and-swap when its
   first sample comes; at its end it sets RING_RELEASED in `state`, and the daemon frees the slot
   once it is drained (state first, then owner).  When a thread dies without a word the daemon finds
   the tid gone and does the same.  Only what both sides need is here: the thread's stack bounds,
   timer and recursion guard are in memory of the target's own (preload/thread_slot.h). */
enum ring_slot_state { RING_LIVE = 0, RING_RELEASED = 1 };

struct ring_slot {
  _Atomic uint64_t owner;
  uint32_t magic;                /* RING_MAGIC */
  _Atomic uint32_t state;        /* enum ring_slot_state */
  _Atomic uint64_t head;         /* bytes produced; release by the handler, acquire by the daemon */
  _Atomic uint64_t tail;         /* bytes consumed; release by the daemon, acquire by the handler */
  _Atomic uint64_t dropped_full; /* records that found no room, by the handler */
  _Atomic uint64_t dropped_reentry; /* signals inside the handler, by the handler */
  uint64_t counted_full;            /* the part of dropped_full already in the daemon's books */
  uint64_t counted_reentry;
  uint32_t generation;        /* raised at each claim */
  char name[RING_NAME_BYTES]; /* thread name when the thread began, NUL-padded */
};

/* pc-lr: a record is a ring_pair and nothing else; head moves by 16. */
enum { RING_PAIR_PC_BITS = 48, RING_PAIR_WEIGHT_MAX = 0xffff };

struct ring_pair {
  uint64_t pc_weight; /* pc, and above its 48 bits the weight in expiries; pc 0: beyond 48 bits */
  uint64_t lr; /* link register; on CPUs without one the word at the stack pointer; 0: none */
};

enum ring_record_flags {
  RING_RECORD_PADDING = 1,   /* skip: fills the end of the data */
  RING_RECORD_TRUNCATED = 2, /* the walk stopped at depth_max */
  RING_RECORD_HAS_LR = 4,    /* pc[1] is the link register, not a walked frame */
};

/* weight counts timer expirations (1 + overrun); each stands for period_ns of CPU time. */
struct ring_record {
  uint16_t size_bytes; /* of the whole record, a multiple of 8 */
  uint8_t depth;
  uint8_t flags;
  uint32_t weight;
  uint64_t pc[]; /* leaf first; callers are return addresses */
};

_Static_assert(sizeof(struct ring_header) <= RING_HEADER_BYTES, "header outgrew its page");
_Static_assert(sizeof(struct ring_slot) <= RING_SLOT_HEADER_BYTES, "slot header outgrew its room");
_Static_assert(sizeof(struct ring_record) == 8, "record header is 8 bytes");
_Static_assert(8 + 8 * RING_DEPTH_MAX <= RING_SLOT_BYTES_MIN / 2, "two records must fit");

static inline uint64_t ring_owner(uint32_t pid, uint32_t tid) {
  return (uint64_t)pid << 32 | tid;
}

/* Bytes of a whole ring with SLOT_COUNT slots of SLOT_BYTES data each. */
static inline uint64_t ring_total_bytes(uint32_t slot_count, uint32_t slot_bytes) {
  return RING_HEADER_BYTES + (uint64_t)slot_count * (RING_SLOT_HEADER_BYTES + slot_bytes);
}

/* Offset of slot INDEX from the start of the mapping. */
static inline uint64_t ring_slot_offset(uint32_t index, uint32_t slot_bytes) {
  return RING_HEADER_BYTES + (uint64_t)index * (RING_SLOT_HEADER_BYTES + slot_bytes);
}

#endif
