/* SPDX-License-Identifier: Apache-2.0 */
/* Spends CPU time in one function for SECONDS, then in another until it is killed. So the code of
   its last samples is known.

     acts SECONDS     in the first function */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

static double spent(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* No function: inlined into the two it would have their time. */
#define BURN(seed)                      \
  do {                                  \
    uint64_t x = (seed);                \
    for (int i = 0; i < 1000000; i++) { \
      x ^= x << 13;                     \
      x ^= x >> 7;                      \
      x ^= x << 17;                     \
    }                                   \
    sink += x;                          \
  } while (0)

__attribute__((noipa)) static void first_act(void) {
  BURN(88172645463325252U);
}

__attribute__((noipa)) static void last_act(void) {
  BURN(8817264546332525U);
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  while (spent() < seconds) first_act();
  for (;;) last_act();
}
