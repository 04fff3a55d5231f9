/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed amount of memory-bound work: a walk along a random cycle through more words than any
   cache holds. Programs that are worth profiling often behave like this. The handler's data is
   never in the cache when its signal arrives.

     thrash [UNITS]     a unit is about a millisecond; prints the CPU seconds it took */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORDS = 16 << 20 /* 64 MiB */, STEPS = 10000 };

static volatile uint32_t sink;

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* A single cycle through all words (Sattolo's shuffle). */
static uint32_t *make_cycle(void) {
  uint32_t *next = malloc(WORDS * sizeof *next);
  uint64_t state = 88172645463325252U;
  if (next == NULL) return NULL;
  for (uint32_t i = 0; i < WORDS; i++) next[i] = i;
  for (uint32_t i = WORDS - 1; i > 0; i--) {
    uint32_t other = (uint32_t)(next_random(&state) % i), kept = next[i];
    next[i] = next[other];
    next[other] = kept;
  }
  return next;
}

__attribute__((noinline, noclone)) static uint32_t walk(const uint32_t *next, uint32_t at) {
  for (int i = 0; i < STEPS; i++) at = next[at];
  return at;
}

int main(int argc, char **argv) {
  uint64_t units = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
  uint32_t *next = make_cycle(), at = 0;
  struct timespec spent;
  if (next == NULL) return 1;
  for (uint64_t i = 0; i < units; i++) at = walk(next, at);
  sink = at;
  free(next);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  printf("%.6f\n", (double)spent.tv_sec + (double)spent.tv_nsec * 1e-9);
  return 0;
}
