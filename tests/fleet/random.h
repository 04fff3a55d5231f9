/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that the same seed makes again (splitmix64). */
#ifndef FLEET_RANDOM_H
#define FLEET_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
  uint64_t bits = *state += 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebULL;
  return bits ^ bits >> 31;
}

/* Where the numbers of (SEED, A, B) begin. */
static inline uint64_t random_state(uint64_t seed, uint64_t a, uint64_t b) {
  uint64_t state = seed;
  state = random_next(&state) ^ a;
  state = random_next(&state) ^ b;
  return random_next(&state);
}

static inline uint64_t random_below(uint64_t *state, uint64_t limit) {
  return random_next(state) % limit;
}

/* Between 0 and 1. */
static inline double random_share(uint64_t *state) {
  return (double)(random_next(state) >> 11) / (double)(1ULL << 53);
}

#endif
