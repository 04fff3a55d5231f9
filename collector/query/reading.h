/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the coarsest blocks that suffice for an answer. */
#ifndef QUERY_READING_H
#define QUERY_READING_H

#include <stdbool.h>
#include <stdint.h>

struct query_range;
struct store;
struct store_scan;

struct reading_need {
  bool boards;         /* boards are distinguished */
  bool nothing_within; /* the weight of a whole block is enough */
  uint64_t step_ms;    /* times are distinguished, in steps of this length; 0: they are not */
};

/* Sets in SCAN the range and the sums that the store may use for an answer about RANGE with NEED.
   Returns 0 or -errno. */
int reading_choose(struct store *store, const struct query_range *range,
                   const struct reading_need *need, struct store_scan *scan);

#endif
