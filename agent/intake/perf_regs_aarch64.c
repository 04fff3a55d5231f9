/* SPDX-License-Identifier: Apache-2.0 */
/* x30, for 32-bit processes the kernel puts their r14 in its place.  A signed return address
   carries its signature above the 48 bits of an address (as arch_aarch64.c has it), a Thumb one its
   mark in bit 0; neither is part of where it points. */
#include "perf_regs.h"

#include <asm/perf_regs.h>

const struct perf_regs perf_regs = {.mask = 1ULL << PERF_REG_ARM64_LR,
                                    .count = 1,
                                    .lr = 0,
                                    .stack_bytes = 0,
                                    .address_mask = 0x0000fffffffffffeULL};

/* In the kernel's order x19, x29, x30, sp, pc. */
const struct perf_walk_regs perf_walk_regs = {
    .mask = 1ULL << PERF_REG_ARM64_X19 | 1ULL << PERF_REG_ARM64_X29 | 1ULL << PERF_REG_ARM64_LR |
            1ULL << PERF_REG_ARM64_SP | 1ULL << PERF_REG_ARM64_PC,
    .count = 5,
    .pc = 4,
    .sp = 3,
    .lr = 2,
    .tracked = {1, 0}};
