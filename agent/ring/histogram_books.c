/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram is never emptied, so the shipped counts are stored beside it, in `taken`. If the
   worker that ships is killed, its successor must find out whether `taken` was updated:

     1. journal: the new values of the counters that have grown; the batch gets the differences
     2. journal.run and seq = the batch that will have them
     3. the batch is spooled
     4. taken = the journal's values         5. the journal is emptied

   If killed before 2, nothing was shipped and nothing is lost: the counters still hold it. If
   killed later, the next worker checks in the spool whether that batch exists, and does 4 and 5, or
   only 5. Step 4 is idempotent. Nothing may be sent between 3 and 5, so that the spool can still
   answer.

   All of this lies in memory that the target can write. A target can only corrupt its own numbers:
   offsets are checked against sizes that do not come from the target. */
#include "histogram_books.h"

#include <stdatomic.h>

static uint32_t load(const struct histogram_books *books, uint32_t bin) {
  const volatile uint8_t *at = books->taken + (uint64_t)bin * books->counter_bytes;
  if (books->counter_bytes == 1) return *at;
  if (books->counter_bytes == 2) return *(const volatile uint16_t *)(const volatile void *)at;
  return *(const volatile uint32_t *)(const volatile void *)at;
}

static void store(const struct histogram_books *books, uint32_t bin, uint32_t value) {
  volatile uint8_t *at = books->taken + (uint64_t)bin * books->counter_bytes;
  if (books->counter_bytes == 1)
    *at = (uint8_t)value;
  else if (books->counter_bytes == 2)
    *(volatile uint16_t *)(volatile void *)at = (uint16_t)value;
  else
    *(volatile uint32_t *)(volatile void *)at = value;
}

/* Release fence: after a kill, the stores are seen in program order, also by the next worker. */
static void order(void) {
  atomic_thread_fence(memory_order_release);
}

void histogram_books_open(struct histogram_books *ret, void *ring,
                          const struct histogram_shape *shape) {
  uint64_t counters = (uint64_t)shape->bin_count * shape->counter_bytes;
  uint8_t *header = (uint8_t *)ring + HISTOGRAM_OFFSET;
  uint8_t *taken = header + HISTOGRAM_HEADER_BYTES + counters;
  *ret = (struct histogram_books){.header = (void *)header,
                                  .taken = taken,
                                  .journal = (void *)(taken + counters),
                                  .counter_bytes = shape->counter_bytes,
                                  .bin_count = shape->bin_count};
}

uint32_t histogram_books_taken(const struct histogram_books *books, uint32_t bin) {
  return load(books, bin);
}

struct histogram_sum histogram_books_sum(const struct histogram_books *books) {
  const volatile struct histogram_header *header = books->header;
  return (struct histogram_sum){header->taken_sum.records, header->taken_sum.units};
}

void histogram_books_begin(const struct histogram_books *books, uint64_t boottime_ns) {
  volatile struct histogram_journal *journal = books->journal;
  journal->run = journal->seq = 0;
  order();
  journal->count = 0;
  journal->boottime_ns = boottime_ns;
  books->journal->sum = histogram_books_sum(books);
  for (unsigned i = 0; i < HISTOGRAM_RESTS; i++) journal->rest[i] = books->header->taken_rest[i];
}

bool histogram_books_step(const struct histogram_books *books, uint32_t bin, uint32_t count) {
  volatile struct histogram_journal *journal = books->journal;
  uint32_t at = journal->count;
  if (at >= HISTOGRAM_STEPS_MAX) return false;
  journal->steps[at].bin = bin;
  journal->steps[at].count = count;
  journal->count = at + 1;
  return true;
}

void histogram_books_step_back(const struct histogram_books *books) {
  volatile struct histogram_journal *journal = books->journal;
  if (journal->count > 0) journal->count = journal->count - 1;
}

void histogram_books_rest(const struct histogram_books *books, unsigned rest, uint64_t count) {
  books->journal->rest[rest] = count;
}

void histogram_books_sum_up(const struct histogram_books *books, struct histogram_sum sum) {
  books->journal->sum = sum;
}

void histogram_books_seal(const struct histogram_books *books, struct histogram_note note) {
  volatile struct histogram_journal *journal = books->journal;
  order();
  journal->seq = note.seq;
  order();
  journal->run = note.run;
}

struct histogram_note histogram_books_note(const struct histogram_books *books) {
  const volatile struct histogram_journal *journal = books->journal;
  return (struct histogram_note){journal->run, journal->seq};
}

static void apply(const struct histogram_books *books) {
  const volatile struct histogram_journal *journal = books->journal;
  uint32_t count = journal->count;
  for (uint32_t i = 0; i < count && i < HISTOGRAM_STEPS_MAX; i++) {
    uint32_t bin = journal->steps[i].bin;
    if (bin < books->bin_count) store(books, bin, journal->steps[i].count);
  }
  for (unsigned i = 0; i < HISTOGRAM_RESTS; i++) books->header->taken_rest[i] = journal->rest[i];
  books->header->taken_sum = books->journal->sum;
  books->header->taken_boottime_ns = journal->boottime_ns;
}

void histogram_books_settle(const struct histogram_books *books, bool is_shipped) {
  volatile struct histogram_journal *journal = books->journal;
  if (is_shipped) apply(books);
  order();
  journal->run = 0;
  order();
  journal->seq = 0;
  journal->count = 0;
}
