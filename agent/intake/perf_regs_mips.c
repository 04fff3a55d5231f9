/* SPDX-License-Identifier: Apache-2.0 */
/* $31.  Bit 0 of a return address is that of compressed code; it is no part of where it points.
   The kernel gives registers of perf events on this CPU since Linux 5.13. */
#include "perf_regs.h"

#include <asm/perf_regs.h>

const struct perf_regs perf_regs = {.mask = 1ULL << PERF_REG_MIPS_R31,
                                    .count = 1,
                                    .lr = 0,
                                    .stack_bytes = 0,
                                    .address_mask = 0xfffffffeULL};

/* In the kernel's order pc, $16, $29, $30, $31. */
const struct perf_walk_regs perf_walk_regs = {
    .mask = 1ULL << PERF_REG_MIPS_PC | 1ULL << PERF_REG_MIPS_R16 | 1ULL << PERF_REG_MIPS_R29 |
            1ULL << PERF_REG_MIPS_R30 | 1ULL << PERF_REG_MIPS_R31,
    .count = 5,
    .pc = 0,
    .sp = 2,
    .lr = 4,
    .tracked = {3, 1}};
