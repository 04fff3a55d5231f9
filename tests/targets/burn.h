/* SPDX-License-Identifier: Apache-2.0 */
/* Work for the functions of a program whose shares are known: no system call, and no function, so
   that the time is that of the function that it stands in, whoever knows what was inlined. */
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

#define LEAF __attribute__((noipa)) static void /* noipa: equal bodies are not folded into one */

#endif
