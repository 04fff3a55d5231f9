/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram of program counters in fixed memory: one counter a bin of code, as `profil` had it.
   All threads of the process share it.  What is counted stays counted: the file is cumulative, and
   what the daemon has already shipped is noted beside it, in `taken`.

   Counters count records: signals that were taken, whatever each stands for.  The kernel's tick
   merges expiries, and a changed rate makes them longer, so what records weigh is summed up in
   `units`, for all of them together: a record of any bin weighs what they do on the average.

     IMAGE_OFFSET       image_table: region.first_bin is where its counters start
     HISTOGRAM_OFFSET   histogram_header (4 KiB)
     counters_offset    bin_count counters of counter_bytes each, by the handler
     taken_offset       bin_count counters of counter_bytes each, by the daemon: what was shipped
     behind them        histogram_journal: what is being shipped         (both: histogram_books.h)

   A counter that is full stays full, and the records that it could not take go to `saturated`. */
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
  HISTOGRAM_BYTES_MAX = 16 << 20, /* of a whole ring; more code gets wider bins, in places */
  HISTOGRAM_RESTS = 3,            /* outside, saturated, contended */
  HISTOGRAM_JOURNAL_BYTES = 32 << 10,
  HISTOGRAM_STEPS_MAX = HISTOGRAM_JOURNAL_BYTES / 8 - 9,
};

/* Records, and the units of weight that they have together. */
struct histogram_sum {
  uint64_t records, units;
};

struct histogram_header {
  uint32_t bin_bytes;     /* a power of two; of a region with a widening more */
  uint32_t counter_bytes; /* 1, 2 or 4 */
  uint32_t bin_count;     /* room for, a multiple of 4; regions take them from the front */
  uint32_t bins_used;
  uint64_t counters_offset, taken_offset; /* from the start of the ring; taken 0: nobody ships it */
  /* By the handler. */
  _Atomic uint64_t samples;   /* records: all that are below and in the counters */
  _Atomic uint64_t units;     /* what they weigh; raised before `samples` */
  _Atomic uint64_t outside;   /* in no region */
  _Atomic uint64_t saturated; /* the counter was full */
  _Atomic uint64_t contended; /* table or counter were being changed each time it was tried, or
                                 the thread was in the handler already */
  /* By the daemon: what it has shipped of outside, saturated and contended, of all together, and up
     to when. */
  uint64_t taken_rest[HISTOGRAM_RESTS];
  struct histogram_sum taken_sum;
  uint64_t taken_boottime_ns;
};

/* A counter as it will stand in `taken`. */
struct histogram_step {
  uint32_t bin, count;
};

/* By the daemon: what `taken` becomes when the batch SEQ of RUN is in the spool. */
struct histogram_journal {
  uint64_t run, seq; /* 0: there is no such batch yet */
  uint64_t rest[HISTOGRAM_RESTS];
  struct histogram_sum sum;
  uint64_t boottime_ns; /* when the counters were read */
  uint32_t count, reserved;
  struct histogram_step steps[HISTOGRAM_STEPS_MAX];
};

_Static_assert(sizeof(struct histogram_header) <= HISTOGRAM_HEADER_BYTES, "outgrew its page");

_Static_assert(sizeof(struct histogram_journal) <= HISTOGRAM_JOURNAL_BYTES, "outgrew its room");

#endif
