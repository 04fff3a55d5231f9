/* SPDX-License-Identifier: Apache-2.0 */
/* A program with known call edges. Two functions, `often` and `seldom`, each call some forty others
   in their own proportions. A call costs the same from either caller, so a caller's part of the
   calls is its part of the time. Each turn takes a random quarter of the forty and lasts as long as
   these. So no sampler keeps step with turns, and samples a few turns apart are independent.

     leaf_N   has no callees
     half_N   works, calls a function that calls another, and works again
     deep_N   calls itself, by `often` four levels deep and by `seldom` one, and `helper` in the end
     goal_N   is only reached by a jump from hop_N: its callers are hop_N's

     mixed_callers SECONDS     prints a line for each edge: callee caller calls */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 150, WAIT_ROUNDS = 4000, OFTEN_LEVELS = 4, SELDOM_LEVELS = 1 };

/* The first of ten bits of each kind in a turn's bit set. */
enum { LEAF_BIT, HALF_BIT = 10, DEEP_BIT = 20, GOAL_BIT = 30, BITS = 40 };

#define APART __attribute__((noipa)) static

static inline uint32_t work(uint32_t x, int rounds) {
  for (int i = 0; i < rounds; i++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  return x;
}

APART uint32_t bottom(uint32_t x) {
  return work(x, 5);
}

/* Calls, so that a return by loading the PC leaves its own place in the link register. */
APART uint32_t helper(uint32_t x) {
  x = bottom(x + 1);
  return x ^ 1;
}

#define LEAF(n)                         \
  APART uint32_t leaf_##n(uint32_t x) { \
    return work(x, ROUNDS + n);         \
  }
#define HALF(n)                         \
  APART uint32_t half_##n(uint32_t x) { \
    x = work(x, ROUNDS / 2 + n);        \
    x = helper(x);                      \
    return work(x, ROUNDS / 2);         \
  }
#define DEEP(n)                                                   \
  APART uint32_t deep_##n(uint32_t x, int levels) {               \
    x = work(x, ROUNDS / 4 + n);                                  \
    x = levels > 0 ? deep_##n(x, levels - 1) + 1 : helper(x) + 2; \
    return work(x, ROUNDS / 4);                                   \
  }
#define GOAL(n)                         \
  APART uint32_t goal_##n(uint32_t x) { \
    return work(x, ROUNDS + n);         \
  }                                     \
  APART uint32_t hop_##n(uint32_t x) {  \
    return goal_##n(x + 3);             \
  }

#define EACH(kind) kind(0) kind(1) kind(2) kind(3) kind(4) kind(5) kind(6) kind(7) kind(8) kind(9)

EACH(LEAF)
EACH(HALF)
EACH(DEEP)
EACH(GOAL)

/* How often each of the two calls number N, in each turn that takes it. */
#define OFTEN(n) (1 + (n) % 5)
#define SELDOM(n) (1 + (n) % 3 * ((n) / 5))

#define IF_TAKEN(bit) if ((which >> (bit)&1) != 0)
#define CALL_LEAF(n)     \
  IF_TAKEN(LEAF_BIT + n) \
  for (int i = 0; i < TIMES(n); i++) x = leaf_##n(x);
#define CALL_HALF(n)     \
  IF_TAKEN(HALF_BIT + n) \
  for (int i = 0; i < TIMES(n); i++) x = half_##n(x);
#define CALL_DEEP(n)     \
  IF_TAKEN(DEEP_BIT + n) \
  for (int i = 0; i < TIMES(n); i++) x = deep_##n(x, LEVELS);
#define CALL_GOAL(n)     \
  IF_TAKEN(GOAL_BIT + n) \
  for (int i = 0; i < TIMES(n); i++) x = hop_##n(x);

#define TIMES OFTEN
#define LEVELS OFTEN_LEVELS
APART uint32_t often(uint32_t x, uint64_t which) {
  EACH(CALL_LEAF) EACH(CALL_HALF) EACH(CALL_DEEP) EACH(CALL_GOAL) return x + 1;
}
#undef TIMES
#undef LEVELS
#define TIMES SELDOM
#define LEVELS SELDOM_LEVELS
APART uint32_t seldom(uint32_t x, uint64_t which) {
  EACH(CALL_LEAF) EACH(CALL_HALF) EACH(CALL_DEEP) EACH(CALL_GOAL) return x + 2;
}

static uint64_t next_random(uint64_t *random) {
  *random = *random * 6364136223846793005U + 1442695040888963407U;
  return *random >> (64 - BITS);
}

APART uint32_t wait_a_little(uint32_t x, uint64_t *random) {
  return work(x, (int)(next_random(random) % WAIT_ROUNDS));
}

static void tell(const char *kind, int n, long turns) {
  printf("%s_%d often %ld\n", kind, n, turns * OFTEN(n));
  printf("%s_%d seldom %ld\n", kind, n, turns * SELDOM(n));
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  long turns[BITS] = {0};
  uint32_t x = 1;
  uint64_t random = (uint64_t)time(NULL);
  while ((double)clock() / CLOCKS_PER_SEC < seconds) {
    uint64_t which = next_random(&random);
    which &= next_random(&random);
    x = wait_a_little(x | 1, &random);
    x = seldom(often(x | 1, which) | 1, which);
    for (int bit = 0; bit < BITS; bit++) turns[bit] += (long)(which >> bit & 1);
  }
  for (int n = 0; n < 10; n++) {
    tell("leaf", n, turns[LEAF_BIT + n]);
    tell("half", n, turns[HALF_BIT + n]);
    tell("goal", n, turns[GOAL_BIT + n]);
    tell("deep", n, turns[DEEP_BIT + n]);
    printf("deep_%d deep_%d %ld\n", n, n,
           turns[DEEP_BIT + n] * (OFTEN(n) * OFTEN_LEVELS + SELDOM(n) * SELDOM_LEVELS));
  }
  return x == 0;
}
