/* SPDX-License-Identifier: Apache-2.0 */
/* ARM: number in r7, arguments from r0 on, result in r0. In Thumb code r7 may be the frame pointer,
   which the compiler reserves, so these are short functions that save it themselves. */
#include "raw_syscall.h"

__attribute__((naked)) long raw_syscall(long number, uintptr_t a, uintptr_t b, uintptr_t c,
                                        uintptr_t d) {
  (void)number, (void)a, (void)b, (void)c, (void)d;
  __asm__ volatile("push {r4, r7}\n\t"
                   "mov r7, r0\n\t"
                   "mov r0, r1\n\t"
                   "mov r1, r2\n\t"
                   "mov r2, r3\n\t"
                   "ldr r3, [sp, #8]\n\t"
                   "svc #0\n\t"
                   "pop {r4, r7}\n\t"
                   "bx lr");
}

__attribute__((naked)) long raw_syscall_six(long number, const uintptr_t words[6]) {
  (void)number, (void)words;
  __asm__ volatile("push {r4, r5, r7, lr}\n\t"
                   "mov r7, r0\n\t"
                   "mov ip, r1\n\t"
                   "ldm ip, {r0, r1, r2, r3, r4, r5}\n\t"
                   "svc #0\n\t"
                   "pop {r4, r5, r7, pc}");
}
