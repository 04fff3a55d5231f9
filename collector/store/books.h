/* SPDX-License-Identifier: Apache-2.0 */
/* The books of one run: the board's counts of records produced, lost and shipped, beside the
   collector's counts of records stored and rejected. */
#ifndef STORE_BOOKS_H
#define STORE_BOOKS_H

#include "common/span.h"
#include "proto/loss.h"

struct buf;

struct books {
  struct counters board; /* the newest report of the board */
  uint64_t stored;
  uint64_t refused; /* records in batches that the collector rejected permanently */
};

/* The balance of the books: produced = stored + sum of dropped + pending. */
struct books_balance {
  uint64_t produced, stored, pending;
  uint64_t dropped[LOSS_REASON_COUNT];
};

/* Returns whether produced covers the records stored and those lost before they could be stored. If
   not, a number is false. */
bool books_are_possible(const struct books *books);

/* Updates BOOKS from COUNTERS. Older counters change nothing; produced and losses never shrink. */
void books_report(struct books *books, const struct counters *counters);

/* Adds a stored batch of RECORDS (0: none) and COUNTERS (NULL: none). Returns false and leaves
   BOOKS unchanged if they were possible before (books_are_possible) and would not be afterwards. */
bool books_take(struct books *books, uint64_t records, const struct counters *counters);

/* Marks the run as ended, with no more batches to arrive: open records count as lost. */
void books_settle(struct books *books);

void books_balance(const struct books *books, struct books_balance *ret);

/* Adds one run's BALANCE to SUM; each number stops at SUM_MAX. */
void books_add(struct books_balance *sum, const struct books_balance *balance);

/* Encode and decode loss arrays as varints, one a reason. Missing reasons decode to zero, unknown
   ones are ignored. */
void books_loss_encode(const uint64_t *loss, struct buf *ret);
int books_loss_decode(struct span bytes, uint64_t *ret_loss);

/* Encode and decode the change of the losses from BEFORE to AFTER as zigzag varints. Appends
   nothing if there is no change. */
void books_change_encode(const struct books_balance *before, const struct books_balance *after,
                         struct buf *ret);
int books_change_decode(struct span bytes, int64_t *ret_change);

#endif
