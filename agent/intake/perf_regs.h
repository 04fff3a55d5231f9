/* SPDX-License-Identifier: Apache-2.0 */
/* Where a pc-lr sample of the kernel's has the link register, on this CPU. */
#ifndef INTAKE_PERF_REGS_H
#define INTAKE_PERF_REGS_H

#include <stdint.h>

enum { PERF_REGS_NO_LR = -1 };

struct perf_regs {
  uint64_t mask;  /* sample_regs_user; the kernel wants one register at least */
  uint32_t count; /* registers in it */
  int lr;         /* which of them, in their order, is the link register, or PERF_REGS_NO_LR */
  uint32_t
      stack_bytes; /* sample_stack_user: without a link register the word at the stack pointer */
  uint64_t address_mask; /* what of a link register is address */
};

/* One of perf_regs_CPU.c, chosen by CMake. */
extern const struct perf_regs perf_regs;

#endif
