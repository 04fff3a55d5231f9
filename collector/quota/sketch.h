/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates the number of different items from their hashes, within a tenth, in half a kilobyte. */
#ifndef QUOTA_SKETCH_H
#define QUOTA_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

enum { SKETCH_CELLS = 512 };

/* All-zero: empty. */
struct sketch {
  uint8_t cells[SKETCH_CELLS];
};

/* Adds an item by its HASH, of which every bit must be random. Returns whether the sketch changed:
   never for an item that was added before, and ever more rarely for others as their number
   grows. */
bool sketch_add(struct sketch *sketch, uint64_t hash);

uint64_t sketch_estimate(const struct sketch *sketch);

#endif
