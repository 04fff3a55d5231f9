/* SPDX-License-Identifier: Apache-2.0 */
/* A program with phases by its own CPU clock: the first 30 % of each round are spent in one
   function and the rest in another.

     phases ROUND_US [SECONDS]     prints: share share cpu-seconds

   The printed shares are measured by the thread's clock. The clock is read about every CHUNK_NS. A
   phase's overrun is carried into the next round, so rounds have the requested length on average.
 */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHUNK_NS = 50000, FIRST_PER_CENT = 30, CALIBRATION = 4000000 };

static uint64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

LEAF first_phase(uint64_t steps) {
  BURN(steps, steps);
}

LEAF second_phase(uint64_t steps) {
  BURN(steps, steps);
}

/* Runs PHASE until the clock reaches UNTIL_NS. Returns the clock's value then. */
static uint64_t run_until(void (*phase)(uint64_t), uint64_t until_ns, uint64_t steps) {
  uint64_t now;
  while ((now = cpu_ns()) < until_ns) phase(steps);
  return now;
}

int main(int argc, char **argv) {
  uint64_t round_ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10100) * 1000;
  uint64_t all_ns = (uint64_t)((argc > 2 ? atof(argv[2]) : 5) * 1e9);
  uint64_t begin = cpu_ns(), spent[2] = {0};
  first_phase(CALIBRATION);
  uint64_t steps = (uint64_t)CALIBRATION * CHUNK_NS / (cpu_ns() - begin + 1) + 1;
  uint64_t start = cpu_ns(), now = start;
  for (uint64_t round = start; now - start < all_ns; round += round_ns) {
    uint64_t before = now;
    now = run_until(first_phase, round + round_ns * FIRST_PER_CENT / 100, steps);
    spent[0] += now - before;
    before = now;
    now = run_until(second_phase, round + round_ns, steps);
    spent[1] += now - before;
  }
  double sum = (double)(spent[0] + spent[1]);
  printf("%.4f %.4f %.4f\n", (double)spent[0] / sum, (double)spent[1] / sum, sum / 1e9);
  return 0;
}
