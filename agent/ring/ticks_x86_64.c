/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: the time stamp counter, which has a constant rate on all current CPUs. The fence
   completes earlier instructions. Without it the counter is read while the handler's cache misses
   are still pending. A cold run then looks as cheap as a warm one (measured: 10 ns instead of 1000
   ns). Forbidden by PR_SET_TSC and by strict seccomp. */
#include "ticks.h"

bool ticks_are_there(void) {
  return true;
}

uint64_t ticks_now(void) {
  uint32_t low, high;
  __asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high)::"memory");
  return (uint64_t)high << 32 | low;
}
