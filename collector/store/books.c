/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of a run's books, without I/O.

   A board's counters are cumulative, so the newest report is enough. Reports arrive out of order: a
   batch spooled an hour ago carries the counters of that time, a ping the current ones. Produced
   and every kind of loss only grow; shipped may shrink if a spooled batch is lost. So the newer
   report has the larger produced + losses; among equals, the larger shipped.

   The balance combines the numbers of board and collector:

     open      = produced - stored - losses that the board counted
     rejected  : the board counts a rejected batch itself once it learns of the rejection, as
                 rejected or, over a quota, as quota. Until then the collector's count fills
                 in, but never more than is open.
     run_ended : an ended run has no open window. Records neither shipped nor counted as lost
                 are lost, as far as they are still open.
     pending   = the rest of open: in the board's spool or window, or in transit.

   A board may report false numbers. Records stored, or lost before they could be stored, were
   produced (books_are_possible); a report that contradicts this is ignored. Sums stop at SUM_MAX.

   A batch whose ack was lost is stored and also in the board's spool. The board may then drop it to
   make room, lose it with a worker's memory, or find it corrupt, and counts it as lost. Then stored
   and dropped exceed produced, and the stored records were not lost.

   Books rebuilt from the days (landing_loss.c) may have more stored than the board has reported as
   produced. Until it reports more, the stored records count as produced. No number is negative, and
   they add up to produced. */
#include "books.h"

#include "common/buf.h"
#include "common/sums.h"
#include "proto/varint.h"

#include <errno.h>

static uint64_t less(uint64_t from, uint64_t what) {
  return from > what ? from - what : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static uint64_t total_of(const uint64_t *dropped) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) sum = sum_of(sum, dropped[i]);
  return sum;
}

/* Losses of batches that the board has spooled, which may be stored nevertheless. The first reason
   in the list is reduced first. */
static const enum loss_reason after_spooling[] = {LOSS_SPOOL_FULL,    LOSS_SPOOL_ERROR,
                                                  LOSS_WORKER_KILLED, LOSS_SPOOL_CORRUPT,
                                                  LOSS_REJECTED,      LOSS_QUOTA};
enum { AFTER_SPOOLING = sizeof after_spooling / sizeof *after_spooling };

static uint64_t lost_before_spooling(const uint64_t *dropped) {
  uint64_t before[LOSS_REASON_COUNT];
  memcpy(before, dropped, sizeof before);
  for (size_t i = 0; i < AFTER_SPOOLING; i++) before[after_spooling[i]] = 0;
  return total_of(before);
}

bool books_are_possible(const struct books *books) {
  uint64_t lost = lost_before_spooling(books->board.dropped);
  return sum_of(books->stored, lost) <= books->board.produced;
}

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

void books_report(struct books *books, const struct counters *counters) {
  struct counters *board = &books->board;
  uint64_t known = sum_of(board->produced, total_of(board->dropped));
  uint64_t told = sum_of(counters->produced, total_of(counters->dropped));
  if (told > known || (told == known && counters->shipped >= board->shipped))
    board->shipped = counters->shipped;
  board->run = counters->run;
  board->produced = larger(board->produced, counters->produced);
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    board->dropped[i] = larger(board->dropped[i], counters->dropped[i]);
  board->final |= counters->final;
}

bool books_take(struct books *books, uint64_t records, const struct counters *counters) {
  struct books after = *books;
  after.stored = sum_of(after.stored, records);
  if (counters != NULL) books_report(&after, counters);
  if (!books_are_possible(&after) && books_are_possible(books)) return false;
  *books = after;
  return true;
}

/* Reduces the board's losses in DROPPED by those of stored batches. Returns the remaining
   losses. */
static uint64_t take_back(const struct books *books, uint64_t *dropped) {
  uint64_t total = lost_before_spooling(dropped);
  uint64_t room = less(less(books->board.produced, books->stored), total);
  for (size_t i = AFTER_SPOOLING; i-- > 0;) {
    uint64_t *of_reason = &dropped[after_spooling[i]];
    *of_reason = smaller(*of_reason, room);
    room -= *of_reason;
    total += *of_reason;
  }
  return total;
}

void books_settle(struct books *books) {
  books->board.final = 1;
  if (books->board.shipped > books->stored) books->board.shipped = books->stored;
}

void books_balance(const struct books *books, struct books_balance *ret) {
  const struct counters *board = &books->board;
  struct books_balance balance = {.stored = books->stored};
  memcpy(balance.dropped, board->dropped, sizeof balance.dropped);
  uint64_t dropped = take_back(books, balance.dropped);
  balance.produced = larger(board->produced, sum_of(books->stored, dropped));
  uint64_t open = less(less(board->produced, books->stored), dropped);

  uint64_t told = less(books->refused, board->dropped[LOSS_REJECTED]);
  uint64_t refused = smaller(open, less(told, board->dropped[LOSS_QUOTA]));
  balance.dropped[LOSS_REJECTED] += refused;
  open -= refused;

  uint64_t unshipped = less(less(board->produced, board->shipped), dropped);
  uint64_t ended = board->final ? smaller(open, unshipped) : 0;
  balance.dropped[LOSS_RUN_ENDED] += ended;
  balance.pending = open - ended;
  *ret = balance;
}

void books_add(struct books_balance *sum, const struct books_balance *balance) {
  sum->produced = sum_of(sum->produced, balance->produced);
  sum->stored = sum_of(sum->stored, balance->stored);
  sum->pending = sum_of(sum->pending, balance->pending);
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    sum->dropped[i] = sum_of(sum->dropped[i], balance->dropped[i]);
}

void books_loss_encode(const uint64_t *loss, struct buf *ret) {
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) varint_encode(ret, loss[i]);
}

int books_loss_decode(struct span bytes, uint64_t *ret_loss) {
  uint64_t loss[LOSS_REASON_COUNT] = {0}, ignored = 0;
  for (unsigned i = 0; bytes.len > 0; i++)
    if (varint_decode(&bytes, i < LOSS_REASON_COUNT ? &loss[i] : &ignored) != 0) return -EBADMSG;
  memcpy(ret_loss, loss, sizeof loss);
  return 0;
}

void books_change_encode(const struct books_balance *before, const struct books_balance *after,
                         struct buf *ret) {
  if (memcmp(before->dropped, after->dropped, sizeof before->dropped) == 0) return;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    varint_encode(ret, zigzag_encode((int64_t)(after->dropped[i] - before->dropped[i])));
}

int books_change_decode(struct span bytes, int64_t *ret_change) {
  uint64_t bits[LOSS_REASON_COUNT];
  int error = books_loss_decode(bytes, bits);
  if (error != 0) return error;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) ret_change[i] = zigzag_decode(bits[i]);
  return 0;
}
