/* SPDX-License-Identifier: Apache-2.0 */
/* No link register: a call pushes the return address, so right after a call and right before a
   return the word at the stack pointer is what a link register would hold.  In between it is any
   word at all; whether a call stands before it is for the collector to see.

   Registers are asked for although the PC is in every sample anyway, because the kernel then says
   which word size the process has (PERF_SAMPLE_REGS_ABI_32). */
#include "perf_regs.h"

#include <asm/perf_regs.h>

const struct perf_regs perf_regs = {.mask = 1ULL << PERF_REG_X86_IP,
                                    .count = 1,
                                    .lr = PERF_REGS_NO_LR,
                                    .stack_bytes = 8,
                                    .address_mask = UINT64_MAX};

/* In the kernel's order %rbx, %rbp, %rsp, %rip. */
const struct perf_walk_regs perf_walk_regs = {
    .mask = 1ULL << PERF_REG_X86_BX | 1ULL << PERF_REG_X86_BP | 1ULL << PERF_REG_X86_SP |
            1ULL << PERF_REG_X86_IP,
    .count = 4,
    .pc = 3,
    .sp = 2,
    .lr = PERF_REGS_NO_LR,
    .tracked = {1, 0}};
