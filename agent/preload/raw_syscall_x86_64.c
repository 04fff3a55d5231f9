/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: number in rax, arguments in rdi, rsi, rdx, r10; the instruction clobbers rcx and r11. */
#include "raw_syscall.h"

long raw_syscall(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) {
  long result;
  register uintptr_t fourth __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                   : "rcx", "r11", "memory");
  return result;
}

long raw_syscall_six(long number, const uintptr_t words[6]) {
  long result;
  register uintptr_t fourth __asm__("r10") = words[3];
  register uintptr_t fifth __asm__("r8") = words[4];
  register uintptr_t sixth __asm__("r9") = words[5];
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(words[0]), "S"(words[1]), "d"(words[2]), "r"(fourth),
                     "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}
