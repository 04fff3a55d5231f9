/* SPDX-License-Identifier: Apache-2.0 */
/* THE CONTRACT between a target and the daemon: the layout of the sealed memfd (or preallocated
   file) that the daemon creates, touches and passes to the target, and that the handler writes
   into.

     0        ring_header (4 KiB)
     4096     by the collect mode (enum ring_collect):
                stacks, pc-lr   slots: ring_slot (256 bytes) + data (slot_bytes), slot_count times
                histogram       image_table, counters           (image_format.h, histogram_format.h)
                recorder        image_table, slots as above     (recorder_format.h)

   Stacks and pc-lr: a slot (ring_slot.h) is a single-producer single-consumer byte ring of records
   (ring_record.h). A record never wraps (a padding record fills the end) and is complete when
   `head` covers it. So a target that dies in the handler leaves no partial record.

   Neither side trusts the other: the daemon uses checked copies, and the target its own offsets.

   A ring is a memfd that cannot shrink (seals), because a removed page would raise SIGBUS in the
   target. A histogram or recorder may instead be a regular file that only root or the target's own
   user can write. Its writer keeps it whole, and has allocated all of its blocks (posix_fallocate)
   before it passes the file on.

   Growth: both sides check the version, and fields are only added in the reserved room. */
#ifndef RING_RING_FORMAT_H
#define RING_RING_FORMAT_H

#include "ring_record.h"
#include "ring_slot.h"
#include "switch_format.h"
#include "unload_format.h"

#include <stddef.h>

enum {
  RING_MAGIC = 0x474e5246, /* "FRNG" */
  RING_VERSION = 5,
  RING_HEADER_BYTES = 4096,
  RING_DEPTH_MAX = 128,
  RING_SLOTS_MAX = 1024,
  RING_SLOT_BYTES_MIN = 4096, /* at least two of the largest records */
  RING_SLOT_BYTES_MAX = 1 << 20,
  RING_SLOTS_DEFAULT = 32, /* the minimum of a ring; up to WIDE while memory allows */
  RING_SLOTS_MIDDLE = 64,
  RING_SLOTS_WIDE = 128,
  RING_SLOT_BYTES_DEFAULT = 8192, /* 400 ms at 99 Hz and 200 bytes for each record */
};

enum ring_collect { RING_STACKS = 0, RING_PC_LR = 1, RING_HISTOGRAM = 2, RING_RECORDER = 3 };

/* The clock that sends the signals. */
enum ring_clock { RING_CLOCK_THREAD = 0, RING_CLOCK_PROF = 1, RING_CLOCK_VIRTUAL = 2 };

/* TICKS are of the CPU's counter. */
enum ring_cost_unit { RING_COST_NONE = 0, RING_COST_TICKS = 1, RING_COST_NS = 2 };

enum { RING_COST_RESERVED = 29 };

/* The daemon sets these before it passes the ring on, unless noted otherwise. */
struct ring_header {
  uint32_t magic;
  uint32_t version;
  uint32_t slot_count;        /* histogram: 0, as slot_bytes */
  uint32_t slot_bytes;        /* data bytes of each slot, a power of two */
  _Atomic uint64_t period_ns; /* CPU time between samples; the daemon may change it at any time */
  uint64_t unit_ns;           /* CPU time of a weight of 1; constant. The target rounds period_ns to
                                 a multiple of it, so weights are exact at any rate */
  uint32_t depth_max;         /* maximum frames of a record */
  uint32_t signal;            /* the signal to use: SIGURG, a real-time one, or that of the clock */
  uint32_t collect;           /* enum ring_collect */
  uint32_t clock;             /* enum ring_clock */
  uint64_t reserved;
  _Atomic uint32_t control; /* enum ring_control; the daemon may change it at any time */
  _Atomic uint32_t serial;  /* incremented by the daemon after a change of control or period_ns */
  /* Up to here: the fields that each sample reads, in one cache line. */
  uint64_t nudge_token;  /* random */
  uint64_t begin_cpu_ns; /* CPU time that the process had spent before it ran this program */
  /* Below: written by the target. */
  _Atomic uint32_t serial_seen;       /* by any of its processes */
  uint32_t unused;                    /* keeps the offsets of the fields below */
  _Atomic uint32_t threads_unsampled; /* no free slot, or no timer available */
  _Atomic uint32_t timers_refused;    /* timer_create failed */
  uint32_t cost_unit;                 /* enum ring_cost_unit */
  _Atomic uint64_t exit_cpu_ns;       /* CPU time of its processes that ended normally */
  _Atomic uint32_t cost_runs;         /* of the handler, timed at set-up (ring_cost.h) */
  uint32_t cost_p50, cost_p99;        /* in cost_unit; valid if cost_runs is not 0 */
  uint32_t cost_reserved[RING_COST_RESERVED];
  struct ring_process processes[RING_PROCESSES_MAX];
  _Atomic uint64_t signals_strayed; /* of a process's clock, in a thread without a slot */
  _Atomic int32_t forks;            /* begun, with a child that has not registered yet (or never
                                       will) */
  _Atomic uint32_t unloads;         /* incremented before a library is unloaded, and after */
  _Atomic uint32_t slots_claimed;   /* slots from this index on were never claimed */
  _Atomic uint32_t stacks_cramped;  /* no room for a signal frame; their threads are unsampled */
  struct unload_log unload_log;
};

_Static_assert(offsetof(struct ring_header, serial) == 60, "one cache line for each sample");
_Static_assert(sizeof(struct ring_header) <= RING_HEADER_BYTES, "header outgrew its page");
_Static_assert(8 + 8 * RING_DEPTH_MAX <= RING_SLOT_BYTES_MIN / 2, "two records must fit");

/* The terms between both sides, besides the sizes. */
struct ring_terms {
  uint64_t period_ns;
  uint64_t unit_ns; /* ring_init: 0 means period_ns */
  uint64_t nudge_token;
  uint64_t begin_cpu_ns;
  uint32_t depth_max; /* ring_init: 0 means RING_DEPTH_MAX */
  int signal;
  enum ring_clock clock;
};

/* The size in bytes of a ring of stacks or pairs with SLOT_COUNT slots of SLOT_BYTES data each. */
static inline uint64_t ring_total_bytes(uint32_t slot_count, uint32_t slot_bytes) {
  return RING_HEADER_BYTES + (uint64_t)slot_count * (RING_SLOT_HEADER_BYTES + slot_bytes);
}

/* Offset of slot INDEX of a ring of stacks or pairs from the start of the mapping. */
static inline uint64_t ring_slot_offset(uint32_t index, uint32_t slot_bytes) {
  return RING_HEADER_BYTES + (uint64_t)index * (RING_SLOT_HEADER_BYTES + slot_bytes);
}

#endif
