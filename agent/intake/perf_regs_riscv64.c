/* SPDX-License-Identifier: Apache-2.0 */
/* ra. */
#include "perf_regs.h"

#include <asm/perf_regs.h>

const struct perf_regs perf_regs = {.mask = 1ULL << PERF_REG_RISCV_RA,
                                    .count = 1,
                                    .lr = 0,
                                    .stack_bytes = 0,
                                    .address_mask = UINT64_MAX};

/* In the kernel's order pc, ra, sp, s0, s1. */
const struct perf_walk_regs perf_walk_regs = {
    .mask = 1ULL << PERF_REG_RISCV_PC | 1ULL << PERF_REG_RISCV_RA | 1ULL << PERF_REG_RISCV_SP |
            1ULL << PERF_REG_RISCV_S0 | 1ULL << PERF_REG_RISCV_S1,
    .count = 5,
    .pc = 0,
    .sp = 2,
    .lr = 1,
    .tracked = {3, 4}};
