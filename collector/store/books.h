/* SPDX-License-Identifier: Apache-2.0 */
/* The books of one run: what its board says it made, lost and shipped, beside what was stored and
   refused here.  All in records. */
#ifndef STORE_BOOKS_H
#define STORE_BOOKS_H

#include "common/span.h"
#include "proto/loss.h"

struct buf;

struct books {
  struct counters board; /* the newest that the board reported */
  uint64_t stored;
  uint64_t refused; /* in batches that were refused here for good */
};

/* What the books come to: produced = stored + sum of dropped + pending. */
struct books_balance {
  uint64_t produced, stored, pending;
  uint64_t dropped[LOSS_REASON_COUNT];
};

/* Whether as much was produced as was stored, or lost before it could be: else a number is not
   true. */
bool books_are_possible(const struct books *books);

/* Takes over what COUNTERS adds to what is known; older counters change nothing, and nothing that
   was produced or lost becomes less. */
void books_report(struct books *books, const struct counters *counters);

/* Adds a stored batch of RECORDS (0: none) and what COUNTERS say (NULL: nothing).  Returns false
   and leaves BOOKS unchanged if they were possible before (books_are_possible) and would not be
   possible afterwards. */
bool books_take(struct books *books, uint64_t records, const struct counters *counters);

/* Nothing of this run will come any more: what is open is lost. */
void books_settle(struct books *books);

void books_balance(const struct books *books, struct books_balance *ret);

/* Adds one run's BALANCE to SUM, each number up to SUM_MAX. */
void books_add(struct books_balance *sum, const struct books_balance *balance);

/* Loss arrays as varints, one a reason; fewer than we know are zeros, more are ignored. */
void books_loss_encode(const uint64_t *loss, struct buf *ret);
int books_loss_decode(struct span bytes, uint64_t *ret_loss);

/* How the losses changed from BEFORE to AFTER, as zigzag varints; nothing when they did not. */
void books_change_encode(const struct books_balance *before, const struct books_balance *after,
                         struct buf *ret);
int books_change_decode(struct span bytes, int64_t *ret_change);

#endif
