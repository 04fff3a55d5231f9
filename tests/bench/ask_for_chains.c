/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into `perf record --call-graph dwarf`: each sample then also has the kernel's chain
   along frame pointers, beside the registers and the copy of the stack. perf itself requests only
   one of the two, so they could not be compared on the same samples. The preload does not reach the
   recorded program. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define EXPORTED __attribute__((visibility("default")))

static __attribute__((constructor)) void leave_no_trace(void) {
  unsetenv("LD_PRELOAD");
}

static long kernel(long number, const long *words) {
  register long fourth __asm__("r10") = words[3];
  register long fifth __asm__("r8") = words[4];
  register long sixth __asm__("r9") = words[5];
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(number), "D"(words[0]), "S"(words[1]), "d"(words[2]), "r"(fourth),
                     "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}

/* perf opens its events by this function of the C library. */
long syscall(long number, ...);

EXPORTED long syscall(long number, ...) {
  long words[6];
  va_list rest;
  va_start(rest, number);
  for (unsigned i = 0; i < 6; i++) words[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_perf_event_open) {
    struct perf_event_attr *event = (struct perf_event_attr *)words[0];
    if (event->sample_type & PERF_SAMPLE_STACK_USER) event->exclude_callchain_user = 0;
  }
  long result = kernel(number, words);
  if (result >= 0 || result < -4095) return result;
  errno = (int)-result;
  return -1;
}
