/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a module: a few ranges of addresses, sorted and far apart. */
#ifndef TABLES_CODE_RANGES_H
#define TABLES_CODE_RANGES_H

#include <stdint.h>

enum {
  CODE_RANGES_MAX = 16,
  CODE_RANGES_NEAR_BYTES = 256 << 10, /* closer ranges are merged: an empty page costs 4 bytes */
};

struct code_range {
  uint64_t low, high; /* [low, high) */
};

struct code_ranges {
  uint32_t count;
  struct code_range ranges[CODE_RANGES_MAX];
};

/* Adds [LOW, HIGH), unless it is empty. If there are too many ranges, the two closest are
   merged. */
void code_ranges_add(struct code_ranges *ranges, uint64_t low, uint64_t high);

/* The first range that ends after ADDRESS; NULL if there is none. */
const struct code_range *code_ranges_from(const struct code_ranges *ranges, uint64_t address);

#endif
