/* SPDX-License-Identifier: Apache-2.0 */
/* Which seqs of one run are accounted for, in a few bytes. */
#ifndef STORE_LEDGER_H
#define STORE_LEDGER_H

#include "common/span.h"

struct buf;

enum { LEDGER_RANGES_MAX = 256 };

/* Ranges in ascending order, never touching.  All-zero is empty. */
struct ledger {
  uint32_t count;
  struct ledger_range {
    uint64_t first, last;
  } ranges[LEDGER_RANGES_MAX];
};

bool ledger_has(const struct ledger *ledger, uint64_t seq);

/* Adds SEQ.  Returns false when a range more would be over the limit and the oldest gap was closed
   to make room: a batch that still belongs there will look like a duplicate. */
bool ledger_add(struct ledger *ledger, uint64_t seq);

/* Adds all that MORE has, over the limit as ledger_add does. */
void ledger_merge(struct ledger *ledger, const struct ledger *more);

/* How many seqs are in it; 0 also of all that there are. */
uint64_t ledger_size(const struct ledger *ledger);

void ledger_encode(const struct ledger *ledger, struct buf *ret);
/* Returns 0 or -EBADMSG. */
int ledger_decode(struct span bytes, struct ledger *ret);

#endif
