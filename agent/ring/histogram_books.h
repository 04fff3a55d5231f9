/* SPDX-License-Identifier: Apache-2.0 */
/* What was shipped of a histogram: `taken` and its journal (histogram_format.h), in a live mapping
   or in the bytes of a file.  For whoever ships it, one at a time. */
#ifndef RING_HISTOGRAM_BOOKS_H
#define RING_HISTOGRAM_BOOKS_H

#include "histogram_layout.h"

struct histogram_books {
  struct histogram_header *header;
  uint8_t *taken;
  struct histogram_journal *journal;
  uint32_t counter_bytes, bin_count;
};

/* The batch that a journal waits for; run 0: none. */
struct histogram_note {
  uint64_t run, seq;
};

/* The books of RING, which is of SHAPE and shipped: of the daemon's own knowledge or checked. */
void histogram_books_open(struct histogram_books *ret, void *ring,
                          const struct histogram_shape *shape);

/* What was shipped of counter BIN (below bin_count); of all of them and the rests. */
uint32_t histogram_books_taken(const struct histogram_books *books, uint32_t bin);
struct histogram_sum histogram_books_sum(const struct histogram_books *books);

/* Begins a new journal, of counters read at BOOTTIME_NS: nothing in it yet. */
void histogram_books_begin(const struct histogram_books *books, uint64_t boottime_ns);
/* BIN, or one of the rests, is going to stand at COUNT.  False when the journal is full. */
bool histogram_books_step(const struct histogram_books *books, uint32_t bin, uint32_t count);
void histogram_books_step_back(const struct histogram_books *books); /* the last one is not */
void histogram_books_rest(const struct histogram_books *books, unsigned rest, uint64_t count);
/* All that is going to be shipped then, from the beginning. */
void histogram_books_sum_up(const struct histogram_books *books, struct histogram_sum sum);
/* The last word before the batch is spooled: NOTE's batch has what the journal says. */
void histogram_books_seal(const struct histogram_books *books, struct histogram_note note);

struct histogram_note histogram_books_note(const struct histogram_books *books);
/* IS_SHIPPED: makes `taken` what the journal says.  In either case the journal is empty then.
   Cut short at any instruction it can be done again. */
void histogram_books_settle(const struct histogram_books *books, bool is_shipped);

#endif
