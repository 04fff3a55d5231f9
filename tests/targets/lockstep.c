/* SPDX-License-Identifier: Apache-2.0 */
/* A program in step with the kernel's tick: it sleeps 3 ms, then works 2/3 ms in one function and
   1/3 ms in another, without end. A sleep ends at a tick, so at CONFIG_HZ=250 each round is one
   tick long. A sampler that only samples at ticks sees the same few instructions again and again.

     lockstep [SECONDS]     prints: share share cpu-seconds

   The printed shares are measured by the thread's clock. */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { SLEEP_NS = 3000000, LONG_NS = 666667, SHORT_NS = 333333, STEPS = 400 };

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* The clock costs a system call, so it is read between long stretches of work. */
LEAF first_two_thirds(uint64_t steps_a_us) {
  BURN(steps_a_us, LONG_NS * steps_a_us / 1000);
}

LEAF second_one_third(uint64_t steps_a_us) {
  BURN(steps_a_us, SHORT_NS * steps_a_us / 1000);
}

/* How many steps of BURN fit into a microsecond here. */
static uint64_t calibrate(void) {
  uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  BURN(STEPS, 10000 * STEPS);
  uint64_t spent = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
  return 10000000ULL * STEPS / (spent ? spent : 1);
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 5;
  uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
  uint64_t steps = calibrate(), spent[2] = {0};
  struct rusage usage;
  while (clock_ns(CLOCK_MONOTONIC) < end) {
    nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    first_two_thirds(steps);
    uint64_t middle = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    second_one_third(steps);
    spent[0] += middle - start;
    spent[1] += clock_ns(CLOCK_THREAD_CPUTIME_ID) - middle;
  }
  getrusage(RUSAGE_SELF, &usage);
  double sum = (double)(spent[0] + spent[1]);
  printf("%.4f %.4f %.6f\n", (double)spent[0] / sum, (double)spent[1] / sum,
         (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
             (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
  return 0;
}
