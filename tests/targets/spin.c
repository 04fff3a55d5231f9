/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed amount of work, equal in every run, on a stack of usual depth. So an increase of its CPU
   time under a sampler is the sampler's cost. Built with and without frame pointers.

     spin [UNITS]     a unit is about a millisecond; prints the CPU seconds it took
     spin -           the same until SIGTERM */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 20, ROUNDS = 600000 };

static volatile uint64_t sink;
static volatile sig_atomic_t is_over;

static void on_term(int number) {
  (void)number;
  is_over = 1;
}

__attribute__((noinline, noclone)) static void unit(void) {
  uint64_t x = 88172645463325252U;
  for (int i = 0; i < ROUNDS; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  sink += x;
}

__attribute__((noinline, noclone)) static void descend(int depth, uint64_t units) {
  if (depth > 0)
    descend(depth - 1, units);
  else
    for (uint64_t i = 0; i < units && !is_over; i++) unit();
  __asm__ volatile("" ::: "memory"); /* no tail call: each level keeps its frame */
}

static uint64_t units_of(const char *text) {
  if (strcmp(text, "-") != 0) return strtoull(text, NULL, 10);
  signal(SIGTERM, on_term);
  return UINT64_MAX;
}

int main(int argc, char **argv) {
  descend(DEPTH, argc > 1 ? units_of(argv[1]) : 1000);
  struct timespec spent;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  printf("%.6f\n", (double)spent.tv_sec + (double)spent.tv_nsec * 1e-9);
  return 0;
}
