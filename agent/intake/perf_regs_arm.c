/* SPDX-License-Identifier: Apache-2.0 */
/* r14.  Bit 0 of a return address marks Thumb code; it is not part of the address. */
#include "perf_regs.h"

#include <asm/perf_regs.h>

const struct perf_regs perf_regs = {.mask = 1ULL << PERF_REG_ARM_LR,
                                    .count = 1,
                                    .lr = 0,
                                    .stack_bytes = 0,
                                    .address_mask = 0xfffffffeULL};

/* In the kernel's order r0 to r15. */
const struct perf_walk_regs perf_walk_regs = {
    .mask = (2ULL << PERF_REG_ARM_PC) - 1,
    .count = 16,
    .pc = 15,
    .sp = 13,
    .lr = 14,
    .tracked = {11, 7},
    .general_count = 15,
    .general = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}};
