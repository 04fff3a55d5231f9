/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit division for signal handlers. On 32-bit CPUs compilers call a library function for it, and
   handlers call only the agent's own code. */
#ifndef RING_DIVIDE_H
#define RING_DIVIDE_H

#include <stdint.h>

enum { DIVIDE_IS_ONE_INSTRUCTION = sizeof(uintptr_t) == sizeof(uint64_t) };

/* WHOLE / PART by long division, one step for each bit; RET_REST is the remainder. */
static inline uint64_t divide_by_bits(uint64_t whole, uint64_t part, uint64_t *ret_rest) {
  uint64_t quotient = 0, rest = 0;
  for (unsigned bit = 0; bit < 64; bit++) {
    uint64_t carry = rest >> 63;
    rest = rest << 1 | whole >> 63;
    whole <<= 1;
    quotient <<= 1;
    if (carry == 0 && rest < part) continue;
    rest -= part;
    quotient |= 1;
  }
  *ret_rest = rest;
  return quotient;
}

/* WHOLE / PART; PART is not 0.  Signal-safe. */
static inline uint64_t divide(uint64_t whole, uint64_t part) {
  uint64_t rest;
  return DIVIDE_IS_ONE_INSTRUCTION ? whole / part : divide_by_bits(whole, part, &rest);
}

/* The remainder.  Signal-safe. */
static inline uint64_t divide_rest(uint64_t whole, uint64_t part) {
  uint64_t rest;
  if (DIVIDE_IS_ONE_INSTRUCTION) return whole % part;
  divide_by_bits(whole, part, &rest);
  return rest;
}

#endif
