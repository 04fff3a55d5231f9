/* SPDX-License-Identifier: Apache-2.0 */
/* One function works. The functions beside it, within the 64 bytes that begin with the first, are
   never called.

     neighbours SECONDS */
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 100000 };

static volatile unsigned long sink;

__attribute__((noinline, no_reorder, used, aligned(64))) static void never_called_before(void) {
  sink = 0;
}

__attribute__((noinline, no_reorder, aligned(16))) static void works(void) {
  for (unsigned i = 0; i < ROUNDS; i++) sink += i;
}

__attribute__((noinline, no_reorder, used, aligned(16))) static void never_called_after(void) {
  sink = 1;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  double end = seconds() + (argc > 1 ? strtod(argv[1], NULL) : 1);
  while (seconds() < end) works();
  return 0;
}
