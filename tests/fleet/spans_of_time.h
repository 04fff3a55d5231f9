/* SPDX-License-Identifier: Apache-2.0 */
/* How long things took, in buckets of 1/16 of a power of two: a quantile is at most 6 % too long.
 */
#ifndef FLEET_SPANS_OF_TIME_H
#define FLEET_SPANS_OF_TIME_H

#include <stdint.h>

enum { SPANS_FRACTIONS = 16, SPANS_BUCKETS = 64 * SPANS_FRACTIONS };

struct spans_of_time {
  uint64_t count, max_ns;
  uint64_t buckets[SPANS_BUCKETS];
};

void spans_add(struct spans_of_time *spans, uint64_t ns);
void spans_merge(struct spans_of_time *sum, const struct spans_of_time *spans);

/* The quantile SHARE of all spans; 0 if there are none. */
uint64_t spans_quantile(const struct spans_of_time *spans, double share);

#endif
