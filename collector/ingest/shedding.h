/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether the collector is overloaded, so that boards must keep their batches. Pure. */
#ifndef INGEST_SHEDDING_H
#define INGEST_SHEDDING_H

#include <stdbool.h>
#include <stdint.h>

#define SHEDDINGS(X)                                                                \
  X(NOTHING, "nothing")                                                             \
  X(QUEUE, "queue")     /* batches waiting for the writer: their number or bytes */ \
  X(BACKLOG, "backlog") /* durable batches waiting for compaction, inflated */      \
  X(MEMORY, "memory")   /* of the whole process */

enum shed {
#define X(name, text) SHED_##name,
  SHEDDINGS(X)
#undef X
      SHED_COUNT
};

/* Current load, or limits. */
struct load {
  uint64_t queue_entries, queue_bytes, backlog_bytes, memory_bytes;
};

struct shedding {
  struct load limit; /* 0: none */
  struct load now;
  enum shed shed; /* why batches are deferred now */
  uint64_t since_ns;
  uint32_t retry_after_ms; /* sent to boards */
};

/* Returns the limits of a collector with MEMORY_BYTES (0: no limit). */
struct load shedding_limits(uint64_t memory_bytes);

/* Evaluates SHEDDING->now at NOW_NS (monotonic). Returns whether `shed` has changed. */
bool shedding_look(struct shedding *shedding, uint64_t now_ns);

const char *shedding_name(enum shed shed);

#endif
