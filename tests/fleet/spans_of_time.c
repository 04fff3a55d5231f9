/* SPDX-License-Identifier: Apache-2.0 */
/* The bucket of NS is its highest bit and the four bits below that. */
#include "spans_of_time.h"

static unsigned bucket_of(uint64_t ns) {
  if (ns < SPANS_FRACTIONS) return (unsigned)ns;
  unsigned exponent = 63 - (unsigned)__builtin_clzll(ns);
  return (exponent - 3) * SPANS_FRACTIONS +
         (unsigned)(ns >> (exponent - 4) & (SPANS_FRACTIONS - 1));
}

static uint64_t end_of(unsigned bucket) {
  if (bucket < SPANS_FRACTIONS) return bucket;
  unsigned exponent = bucket / SPANS_FRACTIONS + 3;
  uint64_t step = 1ULL << (exponent - 4);
  return (1ULL << exponent) + (bucket % SPANS_FRACTIONS + 1) * step - 1;
}

void spans_add(struct spans_of_time *spans, uint64_t ns) {
  spans->count++;
  spans->buckets[bucket_of(ns)]++;
  if (ns > spans->max_ns) spans->max_ns = ns;
}

void spans_merge(struct spans_of_time *sum, const struct spans_of_time *spans) {
  sum->count += spans->count;
  if (spans->max_ns > sum->max_ns) sum->max_ns = spans->max_ns;
  for (unsigned i = 0; i < SPANS_BUCKETS; i++) sum->buckets[i] += spans->buckets[i];
}

uint64_t spans_quantile(const struct spans_of_time *spans, double share) {
  uint64_t wanted = (uint64_t)(share * (double)spans->count), seen = 0;
  for (unsigned i = 0; i < SPANS_BUCKETS; i++) {
    seen += spans->buckets[i];
    if (spans->buckets[i] > 0 && seen >= wanted)
      return end_of(i) < spans->max_ns ? end_of(i) : spans->max_ns;
  }
  return 0;
}
