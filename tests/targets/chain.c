/* SPDX-License-Identifier: Apache-2.0 */
/* Known call chains through frames of all kinds: small, large, with many saved registers, with a
   frame pointer among frames without, through the C library and back, in another thread, and
   recursive. Compiled without frame pointers.

     chain SECONDS     works at the bottom of each chain in turn */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 20000, LEVELS = 5 };

#define FRAME __attribute__((noinline, noclone, noipa))
#define KEEP_FRAME __asm__ volatile("" ::: "memory") /* no call is the last thing done */

static volatile uint64_t sink;

FRAME static void bottom(void) {
  uint64_t x = 88172645463325252U;
  for (unsigned i = 0; i < ROUNDS; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  sink += x;
}

FRAME static void small_frame(void) {
  bottom();
  KEEP_FRAME;
}

FRAME static void large_frame(void) {
  volatile char room[3000];
  room[sink % sizeof room] = 1;
  small_frame();
  sink += (uint64_t)room[sink % sizeof room];
}

/* A frame with a frame pointer among frames without. */
FRAME __attribute__((optimize("no-omit-frame-pointer"))) static void pointed_frame(size_t bytes) {
  volatile char room[1000];
  room[bytes % sizeof room] = 0;
  large_frame();
  sink += (uint64_t)room[bytes % sizeof room];
}

FRAME static void full_frame(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  uint64_t e = a * b + sink, f = c * d + sink, g = a + d, h = b ^ c;
  pointed_frame(64 + sink % 512);
  sink += a + b + c + d + e + f + g + h;
}

FRAME static int compare(const void *a, const void *b) {
  full_frame(1, 2, 3, 4);
  return *(const char *)a - *(const char *)b;
}

FRAME static void through_library(void) {
  char two[] = {2, 1};
  qsort(two, sizeof two, 1, compare);
  sink += (uint64_t)two[0];
}

FRAME static void recursive(unsigned left) {
  if (left > 0)
    recursive(left - 1);
  else
    small_frame();
  KEEP_FRAME;
}

static double seconds;

FRAME static void work(void) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    through_library();
    recursive(LEVELS);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec) <
           seconds);
}

FRAME static void *in_thread(void *unused) {
  work();
  return unused;
}

int main(int argc, char **argv) {
  pthread_t thread;
  seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  if (pthread_create(&thread, NULL, in_thread, NULL) != 0) return 1;
  work();
  pthread_join(thread, NULL);
  return 0;
}
