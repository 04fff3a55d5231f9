/* SPDX-License-Identifier: Apache-2.0 */
/* AArch64: number in x8, arguments in x0 to x3, result in x0. */
#include "raw_syscall.h"

long raw_syscall(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) {
  register long which __asm__("x8") = number;
  register uintptr_t first __asm__("x0") = a;
  register uintptr_t second __asm__("x1") = b;
  register uintptr_t third __asm__("x2") = c;
  register uintptr_t fourth __asm__("x3") = d;
  __asm__ volatile("svc #0"
                   : "+r"(first)
                   : "r"(which), "r"(second), "r"(third), "r"(fourth)
                   : "memory");
  return (long)first;
}

long raw_syscall_six(long number, const uintptr_t words[6]) {
  register long which __asm__("x8") = number;
  register uintptr_t first __asm__("x0") = words[0];
  register uintptr_t second __asm__("x1") = words[1];
  register uintptr_t third __asm__("x2") = words[2];
  register uintptr_t fourth __asm__("x3") = words[3];
  register uintptr_t fifth __asm__("x4") = words[4];
  register uintptr_t sixth __asm__("x5") = words[5];
  __asm__ volatile("svc #0"
                   : "+r"(first)
                   : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "memory");
  return (long)first;
}
