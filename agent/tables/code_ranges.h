/* SPDX-License-Identifier: Apache-2.0 */
/* Where a module has code: a few ranges of addresses, in order and far from each other. */
#ifndef TABLES_CODE_RANGES_H
#define TABLES_CODE_RANGES_H

#include <stdint.h>

enum {
  CODE_RANGES_MAX = 16,
  CODE_RANGES_NEAR_BYTES = 256 << 10, /* nearer ones become one: a page of nothing costs 4 bytes */
};

struct code_range {
  uint64_t low, high; /* [low, high) */
};

struct code_ranges {
  uint32_t count;
  struct code_range ranges[CODE_RANGES_MAX];
};

/* Adds [LOW, HIGH), unless it is empty.  Where there are too many the nearest two become one. */
void code_ranges_add(struct code_ranges *ranges, uint64_t low, uint64_t high);

/* The first range that ends behind ADDRESS; NULL when there is none. */
const struct code_range *code_ranges_from(const struct code_ranges *ranges, uint64_t address);

#endif
