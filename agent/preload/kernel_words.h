/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own types for a time and for a set of signals. On 32-bit CPUs a libc may use other
   types under these names (time_t may have 64 bits).

   On those CPUs each call exists twice. Kernels before 5.1 have only the call with 32-bit times.
   Kernels without CONFIG_COMPAT_32BIT_TIME have only the one with 64-bit times. All times here fit
   in 32 bits. */
#ifndef PRELOAD_KERNEL_WORDS_H
#define PRELOAD_KERNEL_WORDS_H

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_timer_settime64
#define SYS_timer_settime64 SYS_timer_settime
#define SYS_timer_gettime64 SYS_timer_gettime
#define SYS_clock_gettime64 SYS_clock_gettime
#define SYS_rt_sigtimedwait_time64 SYS_rt_sigtimedwait
#endif

struct kernel_time {
  long seconds, parts;
};

struct kernel_time64 {
  int64_t seconds, parts;
};

enum {
  KERNEL_SIGNAL_BYTES = _NSIG > 65 ? 16 : 8, /* MIPS has 127 signals, all other CPUs 64 */
  KERNEL_LONG_BITS = 8 * sizeof(long),
};

struct kernel_signals {
  unsigned long bits[KERNEL_SIGNAL_BYTES / sizeof(long)];
};

static inline struct kernel_signals kernel_signals_of(int signal) {
  struct kernel_signals ret = {{0}};
  unsigned at = (unsigned)signal - 1;
  ret.bits[at / KERNEL_LONG_BITS] = 1UL << at % KERNEL_LONG_BITS;
  return ret;
}

static inline int kernel_signals_has(const struct kernel_signals *signals, int signal) {
  unsigned at = (unsigned)signal - 1;
  return (signals->bits[at / KERNEL_LONG_BITS] >> at % KERNEL_LONG_BITS & 1) != 0;
}

#endif
