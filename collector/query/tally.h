/* SPDX-License-Identifier: Apache-2.0 */
/* Weights by small numbers: names of a function table, lines of a place table. */
#ifndef QUERY_TALLY_H
#define QUERY_TALLY_H

#include "common/sums.h"

#include <stdbool.h>
#include <stdint.h>

struct tally_sum {
  wide_sum self, total;
  uint64_t self_count;
  uint64_t stack; /* the last stack counted in total */
};

/* All-zero is empty. */
struct tally {
  struct tally_sum *sums; /* by number; those from ROOM on are zero */
  uint32_t room;
};

/* Adds COUNT samples of WEIGHT to the self weight of NUMBER. Returns 0 or -ENOMEM. */
int tally_self(struct tally *tally, uint32_t number, uint64_t count, uint64_t weight);

/* Adds WEIGHT to the total of NUMBER, once for each STACK (not 0). Calls for one stack must be
   consecutive. Returns 0 or -ENOMEM. */
int tally_total(struct tally *tally, uint32_t number, uint64_t stack, uint64_t weight);
void tally_fini(struct tally *tally);

#endif
