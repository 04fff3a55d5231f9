/* SPDX-License-Identifier: Apache-2.0 */
/* How many different things there were, from their hashes, within a tenth, in half a kilobyte. */
#ifndef QUOTA_SKETCH_H
#define QUOTA_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

enum { SKETCH_CELLS = 512 };

/* All-zero: nothing yet. */
struct sketch {
  uint8_t cells[SKETCH_CELLS];
};

/* Adds one thing by its HASH, of which every bit must be random.  Returns whether that changed
   anything: never for one that was added before, and the rarer for others the more there are. */
bool sketch_add(struct sketch *sketch, uint64_t hash);

uint64_t sketch_estimate(const struct sketch *sketch);

#endif
