/* SPDX-License-Identifier: Apache-2.0 */
/* The few system calls of set-up, thread start, fork and control changes. They return -errno as the
   kernel does. They bypass libc for three reasons: libc's timer_create starts a helper thread or
   hides the kernel's timer ID; errno belongs to the program; and control.c makes them in a signal
   handler. The sampling handler makes none. */
#ifndef PRELOAD_RAW_SYSCALL_H
#define PRELOAD_RAW_SYSCALL_H

#include <stdint.h>
#include <sys/syscall.h>

/* Signal-safe. */
long raw_syscall(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

/* The same with six arguments. */
long raw_syscall_six(long number, const uintptr_t words[6]);

static inline uint32_t raw_getpid(void) {
  return (uint32_t)raw_syscall(SYS_getpid, 0, 0, 0, 0);
}

static inline uint32_t raw_gettid(void) {
  return (uint32_t)raw_syscall(SYS_gettid, 0, 0, 0, 0);
}

#endif
