/* SPDX-License-Identifier: Apache-2.0 */
/* There is no link register.  A call pushes the return address.  So right after a call and right
   before a return, the word at the stack pointer has the value of a link register.  In between it
   is any word; the collector checks whether a call precedes that address.

   Registers are requested although the PC is in every sample, because the kernel then reports the
   process's word size (PERF_SAMPLE_REGS_ABI_32). */
#include "perf_regs.h"

#include <asm/perf_regs.h>

const struct perf_regs perf_regs = {.mask = 1ULL << PERF_REG_X86_IP,
                                    .count = 1,
                                    .lr = PERF_REGS_NO_LR,
                                    .stack_bytes = 8,
                                    .address_mask = UINT64_MAX};

#define RANGE(first, last) ((2ULL << (last)) - (1ULL << (first)))

/* The kernel's order is %rax, %rbx, %rcx, %rdx, %rsi, %rdi, %rbp, %rsp, %rip, %r8 to %r15.  Our
   order is that of a signal frame: %r8 to %r15, %rdi, %rsi, %rbp, %rbx, %rdx, %rax, %rcx, %rsp. */
const struct perf_walk_regs perf_walk_regs = {
    .mask = RANGE(PERF_REG_X86_AX, PERF_REG_X86_IP) | RANGE(PERF_REG_X86_R8, PERF_REG_X86_R15),
    .count = 17,
    .pc = 8,
    .sp = 7,
    .lr = PERF_REGS_NO_LR,
    .tracked = {6, 1},
    .general_count = 16,
    .general = {9, 10, 11, 12, 13, 14, 15, 16, 5, 4, 6, 1, 3, 0, 2, 7}};
