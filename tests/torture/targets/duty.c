/* SPDX-License-Identifier: Apache-2.0 */
/* Burns PERCENT of each period of MS milliseconds, the burst starting with the period: a period
   that is a multiple of the kernel's tick is locked to it. Prints its CPU time by getrusage, and
   the part of it within the bursts, in nanoseconds. Bursts are in user mode except for a system
   call that reads the clock every few ten microseconds.

     duty PERCENT MS SECONDS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define NS_PER_S 1000000000LL

static volatile uint64_t sink;

static int64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Returns how long it took. */
__attribute__((noinline)) static int64_t burst(int64_t ns) {
  int64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID), now = start;
  for (; now < start + ns; now = now_ns(CLOCK_THREAD_CPUTIME_ID))
    for (int i = 0; i < 50000; i++) sink += (uint64_t)i;
  return now - start;
}

static long long used_ns(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * NS_PER_S +
         (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000LL;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int64_t period = (int64_t)(strtod(argv[2], NULL) * 1e6);
  int64_t work = (int64_t)(strtod(argv[1], NULL) / 100 * (double)period);
  int64_t next = now_ns(CLOCK_MONOTONIC) / period * period + period;
  int64_t end = next + strtoll(argv[3], NULL, 10) * NS_PER_S, in_bursts = 0;
  for (; next < end; next += period) {
    struct timespec at = {next / NS_PER_S, next % NS_PER_S};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    in_bursts += burst(work);
  }
  printf("%lld %lld\n", used_ns(), (long long)in_bursts);
  return 0;
}
