/* SPDX-License-Identifier: Apache-2.0 */
/* Works at the bottom of a stack of a given depth, deeper than any record holds by default.

     deep_stack [DEPTH] [UNITS]     a unit is about a millisecond; prints the depth it reached */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 400000 };

static volatile uint64_t sink;
static volatile unsigned reached;

__attribute__((noinline, noclone)) static void bottom(uint64_t units) {
  uint64_t x = 88172645463325252U;
  for (uint64_t i = 0; i < units * ROUNDS; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  sink += x;
}

__attribute__((noinline, noclone)) static void descend(unsigned left, uint64_t units) {
  reached++;
  if (left > 1)
    descend(left - 1, units);
  else
    bottom(units);
  __asm__ volatile("" ::: "memory"); /* no tail call: each level keeps its frame */
}

int main(int argc, char **argv) {
  unsigned depth = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000;
  descend(depth > 0 ? depth : 1, argc > 2 ? strtoull(argv[2], NULL, 10) : 500);
  printf("%u\n", reached);
  return 0;
}
