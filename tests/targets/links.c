/* SPDX-License-Identifier: Apache-2.0 */
/* A link of a chain: spends CPU time and executes the next program. Each link's privileges depend
   on how the test installed its file.

     links PROGRAM...     the next link and those after it; the last one prints the CPU seconds
                          of the whole chain, which is one process */
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LINK_NS 400000000U

static volatile uint64_t sink;

static uint64_t spent_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

__attribute__((noipa)) static void link_work(void) {
  uint64_t end = spent_ns() + LINK_NS;
  while (spent_ns() < end)
    for (unsigned i = 0; i < 100000; i++) sink += i;
}

int main(int argc, char **argv) {
  struct rusage usage;
  link_work();
  if (argc > 1) {
    execv(argv[1], argv + 1);
    return 1;
  }
  getrusage(RUSAGE_SELF, &usage);
  printf("%.3f\n", (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
  return 0;
}
