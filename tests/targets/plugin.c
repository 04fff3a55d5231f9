/* SPDX-License-Identifier: Apache-2.0 */
/* The library that plugs.c loads: one function that spends CPU time. */
#include <stdint.h>
#include <time.h>

double plugin_work(double seconds);

static volatile uint64_t sink;

static double spent(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

__attribute__((noipa)) static void plugin_burn(void) {
  uint64_t x = 88172645463325252U;
  for (int i = 0; i < 1000000; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  sink += x;
}

double plugin_work(double seconds) {
  double start = spent(), now = start;
  while (now - start < seconds) {
    plugin_burn();
    now = spent();
  }
  return now - start;
}
