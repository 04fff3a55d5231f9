/* SPDX-License-Identifier: Apache-2.0 */
/* ra. */
#include "perf_regs.h"

#include <asm/perf_regs.h>

const struct perf_regs perf_regs = {.mask = 1ULL << PERF_REG_RISCV_RA,
                                    .count = 1,
                                    .lr = 0,
                                    .stack_bytes = 0,
                                    .address_mask = UINT64_MAX};

/* In the kernel's order pc, x1 to x31. */
const struct perf_walk_regs perf_walk_regs = {
    .mask = (2ULL << PERF_REG_RISCV_T6) - 1,
    .count = 32,
    .pc = 0,
    .sp = 2,
    .lr = 1,
    .tracked = {8, 9},
    .general_count = 32,
    .general = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}};
