/* SPDX-License-Identifier: Apache-2.0 */
/* MIPS, o32: number in $2, four arguments in $4 to $7, the others on the stack above room for those
   four. The result is in $2, and $7 is nonzero if it is an error, which is then positive. A
   compiler does not allow a push in the middle of a function, so the instruction is in a
   handwritten one. */
#include "raw_syscall.h"

/* raw_syscall_six; the name covers both functions for a search for system calls. */
__asm__(".pushsection .text\n"
        ".globl raw_syscall_six\n"
        ".hidden raw_syscall_six\n"
        ".type raw_syscall_six, @function\n"
        ".ent raw_syscall_six\n"
        "raw_syscall_six:\n"
        ".frame $29, 32, $31\n"
        ".set push\n"
        ".set noreorder\n"
        "addiu $29, $29, -32\n"
        "move $2, $4\n"
        "move $8, $5\n"
        "lw $9, 16($8)\n"
        "lw $10, 20($8)\n"
        "lw $4, 0($8)\n"
        "lw $5, 4($8)\n"
        "lw $6, 8($8)\n"
        "lw $7, 12($8)\n"
        "sw $9, 16($29)\n"
        "sw $10, 20($29)\n"
        "syscall\n"
        "beqz $7, 1f\n"
        "addiu $29, $29, 32\n"
        "subu $2, $0, $2\n"
        "1: jr $31\n"
        "nop\n"
        ".set pop\n"
        ".end raw_syscall_six\n"
        ".size raw_syscall_six, . - raw_syscall_six\n"
        ".popsection\n");

long raw_syscall(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) {
  const uintptr_t words[6] = {a, b, c, d};
  return raw_syscall_six(number, words);
}
