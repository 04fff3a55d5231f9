/* SPDX-License-Identifier: Apache-2.0 */
/* The shipped counts of a histogram: `taken` and its journal (histogram_format.h), in a live
   mapping or in the bytes of a file. For the worker that ships it, one at a time. */
#ifndef RING_HISTOGRAM_BOOKS_H
#define RING_HISTOGRAM_BOOKS_H

#include "histogram_layout.h"

struct histogram_books {
  struct histogram_header *header;
  uint8_t *taken;
  struct histogram_journal *journal;
  uint32_t counter_bytes, bin_count;
};

/* The batch that a journal belongs to; run 0: none. */
struct histogram_note {
  uint64_t run, seq;
};

/* The books of RING, which has SHAPE and is shipped. The daemon made SHAPE itself or has checked
   it. */
void histogram_books_open(struct histogram_books *ret, void *ring,
                          const struct histogram_shape *shape);

/* The shipped count of counter BIN (below bin_count), and of all counters and rests together. */
uint32_t histogram_books_taken(const struct histogram_books *books, uint32_t bin);
struct histogram_sum histogram_books_sum(const struct histogram_books *books);

/* Begins an empty journal, for counters read at BOOTTIME_NS. */
void histogram_books_begin(const struct histogram_books *books, uint64_t boottime_ns);
/* Records that the shipped count of BIN, or of a rest, becomes COUNT. False if the journal is
   full. */
bool histogram_books_step(const struct histogram_books *books, uint32_t bin, uint32_t count);
void histogram_books_step_back(const struct histogram_books *books); /* removes the last step */
void histogram_books_rest(const struct histogram_books *books, unsigned rest, uint64_t count);
/* Records the total that will then have been shipped, since the beginning. */
void histogram_books_sum_up(const struct histogram_books *books, struct histogram_sum sum);
/* The last step before the batch is spooled: the journal belongs to NOTE's batch. */
void histogram_books_seal(const struct histogram_books *books, struct histogram_note note);

struct histogram_note histogram_books_note(const struct histogram_books *books);
/* If IS_SHIPPED, copies the journal's values to `taken`. Empties the journal in either case. Safe
   to repeat after a kill at any instruction. */
void histogram_books_settle(const struct histogram_books *books, bool is_shipped);

#endif
