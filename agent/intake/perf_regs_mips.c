/* SPDX-License-Identifier: Apache-2.0 */
/* $31.  Bit 0 of a return address marks compressed code; it is not part of the address.  Since
   Linux 5.13 the kernel provides registers in perf events on this CPU. */
#include "perf_regs.h"

#include <asm/perf_regs.h>

const struct perf_regs perf_regs = {.mask = 1ULL << PERF_REG_MIPS_R31,
                                    .count = 1,
                                    .lr = 0,
                                    .stack_bytes = 0,
                                    .address_mask = 0xfffffffeULL};

/* In the kernel's order pc, $1 to $25, $28 to $31. */
const struct perf_walk_regs perf_walk_regs = {.mask = (2ULL << PERF_REG_MIPS_R31) - 1,
                                              .count = 30,
                                              .pc = 0,
                                              .sp = 27,
                                              .lr = 29,
                                              .tracked = {28, 16},
                                              .general_count = 32,
                                              .general = {PERF_REGS_NONE,
                                                          1,
                                                          2,
                                                          3,
                                                          4,
                                                          5,
                                                          6,
                                                          7,
                                                          8,
                                                          9,
                                                          10,
                                                          11,
                                                          12,
                                                          13,
                                                          14,
                                                          15,
                                                          16,
                                                          17,
                                                          18,
                                                          19,
                                                          20,
                                                          21,
                                                          22,
                                                          23,
                                                          24,
                                                          25,
                                                          PERF_REGS_NONE,
                                                          PERF_REGS_NONE,
                                                          26,
                                                          27,
                                                          28,
                                                          29}};
