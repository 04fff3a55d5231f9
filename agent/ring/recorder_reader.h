/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a flight recorder (recorder_format.h) from a live mapping, or from a file's bytes after a
   crash. Trusts none of it. */
#ifndef RING_RECORDER_READER_H
#define RING_RECORDER_READER_H

#include "image_table.h"
#include "recorder_format.h"

struct recorder_reader {
  const uint8_t *base;
  uint32_t slot_count, slot_bytes;
  uint32_t clock;           /* enum ring_clock, as stored in the ring */
  uint64_t unit_ns;         /* CPU time of a weight of 1 */
  struct image_table image; /* a checked copy */
};

struct recorder_value {
  uint64_t pc; /* 0: beyond 48 bits */
  uint32_t weight;
};

/* The recorded values of one thread. */
struct recorder_log {
  uint32_t pid, tid;
  bool is_released; /* the thread ended normally */
  char name[RING_NAME_BYTES + 1];
  uint64_t written; /* values ever */
  uint64_t dropped; /* weight that no value could hold, and signals inside the agent's handler or
                       the program's handler of a crash */
  uint32_t count;   /* values kept */
  uint32_t older;   /* how many of them are from the previous lap */
  bool was_overwritten; /* earlier values were overwritten */
};

/* Checks the headers of the SIZE bytes at RING (8-byte aligned), which stay the caller's. IS_DEAD:
   see image_table_read. Returns 0, -EPROTO for another version, -EAGAIN, or -EBADMSG. */
int recorder_reader_open(struct recorder_reader *ret, const void *ring, uint64_t size,
                         bool is_dead);

/* Copies slot INDEX into WORDS (slot_bytes of room) and finds the order of its values. Returns 0,
   -ENOENT for a slot without owner, -EAGAIN if its thread wrote during every attempt, or
   -EBADMSG. */
int recorder_reader_log(const struct recorder_reader *recorder, uint32_t index, uint64_t *words,
                        struct recorder_log *ret);

/* Finds the order of VALUE_COUNT + 1 WORDS and compacts them, newer values first. Sets count, older
   and was_overwritten. Returns 0, or -EBADMSG if the last word is not zero. Pure. */
int recorder_log_order(uint64_t *words, uint32_t value_count, struct recorder_log *ret);

/* Value AT (below count) of LOG, oldest first. */
struct recorder_value recorder_log_value(const struct recorder_log *log, const uint64_t *words,
                                         uint32_t at);

#endif
