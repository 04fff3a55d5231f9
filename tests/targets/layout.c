/* SPDX-License-Identifier: Apache-2.0 */
/* A program with known callers in any link layout: main calls outer, which calls upper for three
   quarters of the time and lower for one quarter. A script links it as one piece, or all but main
   as a library (-DIN_LIBRARY) and main against it (-DIN_PROGRAM).

     layout [SECONDS]     prints the part of upper in the time of both, by the thread's clock

   upper is in its own section, for a linker that places it far away. The padding moves code: its
   file offset and its address differ by more than a page. Upper and lower call nothing and leave
   the link register alone, on 32-bit CPUs too. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double outer(double seconds);

#ifndef IN_PROGRAM
enum { BURST_MIN = 5000, BURST_SPREAD = 65536, PADDING = 70001, ZEROS = 3000001 };

__attribute__((aligned(64))) const char layout_padding[PADDING] = {1};
char layout_zeros[ZEROS];

static volatile uint32_t sink;

static double thread_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#define BURN(random)                                                       \
  do {                                                                     \
    uint32_t x = (random) | 1, left = BURST_MIN + (random) % BURST_SPREAD; \
    for (; left > 0; left--) {                                             \
      x ^= x << 13;                                                        \
      x ^= x >> 17;                                                        \
      x ^= x << 5;                                                         \
    }                                                                      \
    sink += x;                                                             \
  } while (0)

__attribute__((noipa, aligned(64))) void lower(uint32_t random) {
  BURN(random);
}

__attribute__((noipa, aligned(64), section(".far_part"))) void upper(uint32_t random) {
  BURN(random);
}

/* Its last call is not a tail call, so the function stays on the stack. */
__attribute__((noipa)) double outer(double seconds) {
  uint64_t random = 1;
  double in_upper = 0, in_lower = 0, before = thread_seconds(), end = before + seconds;
  while (before < end) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    int is_upper = in_upper <= 3 * in_lower;
    if (is_upper)
      upper((uint32_t)(random >> 33));
    else
      lower((uint32_t)(random >> 33));
    double now = thread_seconds();
    *(is_upper ? &in_upper : &in_lower) += now - before;
    before = now;
  }
  return in_upper / (in_upper + in_lower) + layout_padding[1] + layout_zeros[1];
}
#endif

#ifndef IN_LIBRARY
int main(int argc, char **argv) {
  double part = outer(argc > 1 ? strtod(argv[1], NULL) : 1);
  printf("%.4f\n", part);
  return 0;
}
#endif
