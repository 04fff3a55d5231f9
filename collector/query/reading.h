/* SPDX-License-Identifier: Apache-2.0 */
/* How coarse the blocks may be that an answer is made of. */
#ifndef QUERY_READING_H
#define QUERY_READING_H

#include <stdbool.h>
#include <stdint.h>

struct query_range;
struct store;
struct store_scan;

struct reading_need {
  bool boards;         /* boards are told apart */
  bool nothing_within; /* of a block: what it weighs will do */
  uint64_t step_ms;    /* so are times, in steps of so much; 0: they are not */
};

/* Sets in SCAN the range, and what the store may sum up for an answer about RANGE with NEED.
   Returns 0 or -errno. */
int reading_choose(struct store *store, const struct query_range *range,
                   const struct reading_need *need, struct store_scan *scan);

#endif
