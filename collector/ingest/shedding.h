/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the collector has more to do than it can, and boards must keep what they have.  Pure. */
#ifndef INGEST_SHEDDING_H
#define INGEST_SHEDDING_H

#include <stdbool.h>
#include <stdint.h>

#define SHEDDINGS(X)                                                                        \
  X(NOTHING, "nothing")                                                                     \
  X(QUEUE, "queue")     /* batches that wait for the writer: their number or their bytes */ \
  X(BACKLOG, "backlog") /* batches that are durable and wait to settle, inflated */         \
  X(MEMORY, "memory")   /* of the whole process */

enum shed {
#define X(name, text) SHED_##name,
  SHEDDINGS(X)
#undef X
      SHED_COUNT
};

/* What there is, or may be. */
struct load {
  uint64_t queue_entries, queue_bytes, backlog_bytes, memory_bytes;
};

struct shedding {
  struct load limit; /* 0: none */
  struct load now;
  enum shed shed; /* why batches are told to come later now */
  uint64_t since_ns;
  uint32_t retry_after_ms; /* what they are told */
};

/* The limits of a collector that may have MEMORY_BYTES (0: whatever it takes). */
struct load shedding_limits(uint64_t memory_bytes);

/* Judges SHEDDING->now at NOW_NS (monotonic).  Returns whether `shed` has changed. */
bool shedding_look(struct shedding *shedding, uint64_t now_ns);

const char *shedding_name(enum shed shed);

#endif
