/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a clock by a system call. libc's fast path may read a counter of the CPU, which a program
   can have forbidden. */
#ifndef PRELOAD_RAW_CLOCK_H
#define PRELOAD_RAW_CLOCK_H

#include "kernel_words.h"
#include "raw_syscall.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>

/* Returns false if there is no such clock.  Signal-safe. */
static inline bool raw_clock_ns(clockid_t clock, uint64_t *ret) {
  struct kernel_time now = {0, 0};
  struct kernel_time64 wide = {0, 0};
  long error = raw_syscall(SYS_clock_gettime, (uintptr_t)clock, (uintptr_t)&now, 0, 0);
  if (error == 0)
    wide = (struct kernel_time64){now.seconds, now.parts};
  else if (error == -ENOSYS)
    error = raw_syscall(SYS_clock_gettime64, (uintptr_t)clock, (uintptr_t)&wide, 0, 0);
  if (error != 0) return false;
  *ret = (uint64_t)wide.seconds * 1000000000ULL + (uint64_t)wide.parts;
  return true;
}

#endif
