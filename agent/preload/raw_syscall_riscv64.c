/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V: number in a7, arguments in a0 to a5, result in a0. */
#include "raw_syscall.h"

long raw_syscall(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) {
  register long which __asm__("a7") = number;
  register uintptr_t first __asm__("a0") = a;
  register uintptr_t second __asm__("a1") = b;
  register uintptr_t third __asm__("a2") = c;
  register uintptr_t fourth __asm__("a3") = d;
  __asm__ volatile("ecall"
                   : "+r"(first)
                   : "r"(which), "r"(second), "r"(third), "r"(fourth)
                   : "memory");
  return (long)first;
}

long raw_syscall_six(long number, const uintptr_t words[6]) {
  register long which __asm__("a7") = number;
  register uintptr_t first __asm__("a0") = words[0];
  register uintptr_t second __asm__("a1") = words[1];
  register uintptr_t third __asm__("a2") = words[2];
  register uintptr_t fourth __asm__("a3") = words[3];
  register uintptr_t fifth __asm__("a4") = words[4];
  register uintptr_t sixth __asm__("a5") = words[5];
  __asm__ volatile("ecall"
                   : "+r"(first)
                   : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "memory");
  return (long)first;
}
