/* SPDX-License-Identifier: Apache-2.0 */
/* r14.  Bit 0 of a return address says that Thumb code called; it is no part of where it points. */
#include "perf_regs.h"

#include <asm/perf_regs.h>

const struct perf_regs perf_regs = {.mask = 1ULL << PERF_REG_ARM_LR,
                                    .count = 1,
                                    .lr = 0,
                                    .stack_bytes = 0,
                                    .address_mask = 0xfffffffeULL};

/* In the kernel's order r7, r11, sp, lr, pc. */
const struct perf_walk_regs perf_walk_regs = {
    .mask = 1ULL << PERF_REG_ARM_R7 | 1ULL << PERF_REG_ARM_FP | 1ULL << PERF_REG_ARM_SP |
            1ULL << PERF_REG_ARM_LR | 1ULL << PERF_REG_ARM_PC,
    .count = 5,
    .pc = 4,
    .sp = 2,
    .lr = 3,
    .tracked = {1, 0}};
