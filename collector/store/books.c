/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of a run's books; pure.

   A board's counters are cumulative, so the newest report says all.  Reports arrive out of order
   (a batch spooled an hour ago carries the counters of then; a ping those of now).  Produced and
   every kind of loss only ever grow; shipped may shrink when a spooled batch is lost.  So the
   newer report is the one with the larger produced + losses, and among equals the one that
   shipped more.

   The balance closes the books from what both sides know:

     open      = produced - stored - losses the board counted
     rejected  : the board counts a refused batch itself once it hears of it, as rejected or, over a
                 quota, as quota.  Until then, and when it never does, ours fills in, but never past
                 what is open.
     run_ended : a run that ended has no open window any more: what it neither shipped nor counted
                 as lost is lost, as far as it is still open.
     pending   = what is open after that: in the board's spool or window, or on its way.

   A board's numbers may be lies.  What was stored or lost before it could be was produced
   (books_are_possible): who says otherwise is not listened to.  Sums stop at SUM_MAX.

   A batch whose ack was lost is in the board's spool, and stored.  When it is dropped there to make
   room, or dies with a worker's memory, or rots, the board counts as lost what is not: then stored
   and dropped come to more than was produced, and what is stored was not lost.

   Books that were made anew from the days (landing_loss.c) may have more stored than the board has
   said yet that it produced: until it says it, what there is was produced.

   Never negative, and summing up to produced. */
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

/* What a board may lose of batches that it has, and that may be stored all the same: what is taken
   back first stands first. */
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

/* Takes back what the board counts as lost of batches that are stored.  Returns what is left. */
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
