/* SPDX-License-Identifier: Apache-2.0 */
/* Work for functions with known shares. It makes no system call and is no function itself, so its
   time belongs to the function that contains it, with or without knowledge of inlining. */
#ifndef TARGETS_BURN_H
#define TARGETS_BURN_H

#include <stdint.h>

static volatile uint64_t sink;

#define BURN(seed, steps)                             \
  do {                                                \
    uint64_t x = (seed) | 1;                          \
    for (uint64_t left = (steps); left > 0; left--) { \
      x ^= x >> 12;                                   \
      x ^= x << 25;                                   \
      x ^= x >> 27;                                   \
    }                                                 \
    sink += x;                                        \
  } while (0)

#define LEAF __attribute__((noipa)) static void /* noipa: prevents folding of equal bodies */

#endif
