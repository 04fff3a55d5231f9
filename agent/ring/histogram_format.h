/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram of program counters in fixed memory: one counter a bin of code, as `profil` had it.
   All threads of the process share it.  What is counted stays counted: the file is cumulative, and
   what the daemon has already shipped is noted beside it, in `taken`.

     IMAGE_OFFSET       image_table: region.first_bin is where its counters start
     HISTOGRAM_OFFSET   histogram_header (4 KiB)
     counters_offset    bin_count counters of counter_bytes each, by the handler
     taken_offset       bin_count counters of counter_bytes each, by the daemon (histogram_drain.c)

   A counter that is full stays full and the units of weight that it could not take go to
   `saturated`. */
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
  HISTOGRAM_BYTES_MAX = 16 << 20, /* of a whole ring; larger programs get coarser bins */
  HISTOGRAM_REDO_BINS = 256,
  HISTOGRAM_RESTS = 3, /* outside, saturated, contended */
};

struct histogram_header {
  uint32_t bin_bytes;     /* a power of two */
  uint32_t counter_bytes; /* 1, 2 or 4 */
  uint32_t bin_count;     /* room for, a multiple of 4; regions take them from the front */
  uint32_t bins_used;
  uint64_t counters_offset, taken_offset; /* from the start of the ring; taken 0: nobody ships it */
  /* By the handler, in units of weight. */
  _Atomic uint64_t samples;   /* all that is below and in the counters */
  _Atomic uint64_t outside;   /* in no region */
  _Atomic uint64_t saturated; /* the counter was full */
  _Atomic uint64_t contended; /* table or counter were being changed each time it was tried, or
                                 the thread was in the handler already */
  /* By the daemon: what it has shipped of outside, saturated and contended, and the block that it
     takes next, written down before `taken` changes (histogram_drain.c). */
  uint64_t taken_serial;
  uint64_t taken_rest[HISTOGRAM_RESTS], redo_rest[HISTOGRAM_RESTS];
  uint32_t redo_first, redo_count;
  uint32_t redo[HISTOGRAM_REDO_BINS];
};

_Static_assert(sizeof(struct histogram_header) <= HISTOGRAM_HEADER_BYTES, "outgrew its page");

#endif
