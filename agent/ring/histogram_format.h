/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram of program counters in fixed memory: one counter for each bin of code, as in
   `profil`. All threads of the process share it. Counts are cumulative; the daemon notes the
   shipped part beside them, in `taken`.

   Counters count records, that is signals, whatever weight each has. The kernel's tick merges
   expiries, and a changed rate makes periods longer. So the weights of all records are summed in
   `units`, and a record of any bin has the average weight.

     IMAGE_OFFSET       image_table: region.first_bin is the first of its counters
     HISTOGRAM_OFFSET   histogram_header (4 KiB)
     counters_offset    bin_count counters of counter_bytes each, by the handler
     taken_offset       bin_count counters of counter_bytes each, by the daemon: the shipped counts
     behind them        histogram_journal: the counts in transit         (both: histogram_books.h)

   A counter saturates at its maximum, and `saturated` counts the records that it could not take. */
#ifndef RING_HISTOGRAM_FORMAT_H
#define RING_HISTOGRAM_FORMAT_H

#include "image_format.h"

enum {
  HISTOGRAM_OFFSET = IMAGE_OFFSET + IMAGE_BYTES,
  HISTOGRAM_HEADER_BYTES = 4096,
  HISTOGRAM_BIN_BYTES_MIN = 2,
  HISTOGRAM_BIN_BYTES_MAX = 4096,
  HISTOGRAM_BIN_BYTES_DEFAULT = 16,
  HISTOGRAM_COUNTER_BYTES_DEFAULT = 4,
  HISTOGRAM_BINS_MAX = 4 << 20,
  HISTOGRAM_BYTES_MAX = 16 << 20, /* of a whole ring; with more code some regions get wider bins */
  HISTOGRAM_RESTS = 3,            /* outside, saturated, contended */
  HISTOGRAM_JOURNAL_BYTES = 32 << 10,
  HISTOGRAM_STEPS_MAX = HISTOGRAM_JOURNAL_BYTES / 8 - 9,
};

/* Records, and the sum of their weights in units. */
struct histogram_sum {
  uint64_t records, units;
};

struct histogram_header {
  uint32_t bin_bytes;     /* a power of two; more in a widened region */
  uint32_t counter_bytes; /* 1, 2 or 4 */
  uint32_t bin_count;     /* capacity, a multiple of 4; regions are allocated from the front */
  uint32_t bins_used;
  uint64_t counters_offset, taken_offset; /* from the start of the ring; taken 0: not shipped */
  /* Written by the handler. */
  _Atomic uint64_t samples;   /* records: all that are below and in the counters */
  _Atomic uint64_t units;     /* their weight; added before `samples` */
  _Atomic uint64_t outside;   /* in no region */
  _Atomic uint64_t saturated; /* the counter was full */
  _Atomic uint64_t contended; /* the table or the counter changed in each attempt, or the thread was
                                 already in the handler */
  /* Written by the daemon: the shipped counts of outside, saturated and contended, the shipped
     total, and its time. */
  uint64_t taken_rest[HISTOGRAM_RESTS];
  struct histogram_sum taken_sum;
  uint64_t taken_boottime_ns;
};

/* A counter's new value in `taken`. */
struct histogram_step {
  uint32_t bin, count;
};

/* Written by the daemon: the new values of `taken` once batch SEQ of RUN is in the spool. */
struct histogram_journal {
  uint64_t run, seq; /* 0: no batch yet */
  uint64_t rest[HISTOGRAM_RESTS];
  struct histogram_sum sum;
  uint64_t boottime_ns; /* time at which the counters were read */
  uint32_t count, reserved;
  struct histogram_step steps[HISTOGRAM_STEPS_MAX];
};

_Static_assert(sizeof(struct histogram_header) <= HISTOGRAM_HEADER_BYTES, "outgrew its page");

_Static_assert(sizeof(struct histogram_journal) <= HISTOGRAM_JOURNAL_BYTES, "outgrew its room");

#endif
