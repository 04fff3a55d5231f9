/* SPDX-License-Identifier: Apache-2.0 */
/* x30; for 32-bit processes the kernel provides r14 there.  A signed return address has its
   signature above the 48 address bits (see arch_aarch64.c), a Thumb address its mark in bit 0;
   neither is part of the address. */
#include "perf_regs.h"

#include <asm/perf_regs.h>

const struct perf_regs perf_regs = {.mask = 1ULL << PERF_REG_ARM64_LR,
                                    .count = 1,
                                    .lr = 0,
                                    .stack_bytes = 0,
                                    .address_mask = 0x0000fffffffffffeULL};

/* In the kernel's order x0 to x30, sp, pc. */
const struct perf_walk_regs perf_walk_regs = {
    .mask = (2ULL << PERF_REG_ARM64_PC) - 1,
    .count = 33,
    .pc = 32,
    .sp = 31,
    .lr = 30,
    .tracked = {29, 19},
    .general_count = 31,
    .general = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30}};
