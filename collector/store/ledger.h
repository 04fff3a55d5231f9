/* SPDX-License-Identifier: Apache-2.0 */
/* The seqs of one run that are accounted for, in a few bytes. */
#ifndef STORE_LEDGER_H
#define STORE_LEDGER_H

#include "common/span.h"

struct buf;

enum { LEDGER_RANGES_MAX = 256 };

/* Ranges in ascending order, never adjacent. All-zero is empty. */
struct ledger {
  uint32_t count;
  struct ledger_range {
    uint64_t first, last;
  } ranges[LEDGER_RANGES_MAX];
};

bool ledger_has(const struct ledger *ledger, uint64_t seq);

/* Adds SEQ. Returns false if a further range would exceed the limit and the oldest gap was closed:
   later batches in that gap will look like duplicates. */
bool ledger_add(struct ledger *ledger, uint64_t seq);

/* Adds all seqs of MORE; above the limit as ledger_add. */
void ledger_merge(struct ledger *ledger, const struct ledger *more);

/* Returns the number of seqs; also 0 if it holds all 2^64 seqs. */
uint64_t ledger_size(const struct ledger *ledger);

void ledger_encode(const struct ledger *ledger, struct buf *ret);
/* Returns 0 or -EBADMSG. */
int ledger_decode(struct span bytes, struct ledger *ret);

#endif
