/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel itself takes for a time and for a set of signals, which on CPUs of 32 bits is not
   what every libc has under these names (time_t may have 64 bits there).

   On those CPUs a call comes twice: with times of 32 bits, which kernels before 5.1 have alone, and
   with 64 bits, which kernels that leave out the former (CONFIG_COMPAT_32BIT_TIME) have alone.  No
   time here comes near either's end. */
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
  KERNEL_SIGNAL_BYTES = _NSIG > 65 ? 16 : 8, /* MIPS has 127 signals, all others 64 */
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
