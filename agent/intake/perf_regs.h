/* SPDX-License-Identifier: Apache-2.0 */
/* The registers in the kernel's samples on this CPU: for pairs (pc-lr) and for unwinding by
   tables. */
#ifndef INTAKE_PERF_REGS_H
#define INTAKE_PERF_REGS_H

#include <stdint.h>

enum {
  PERF_REGS_NO_LR = -1,
  PERF_REGS_TRACKED = 2,  /* the registers of unwind/unwind_arch.h, in its order */
  PERF_REGS_GENERAL = 32, /* its general registers, in its order */
  PERF_REGS_NONE = 0xff,
};

struct perf_regs {
  uint64_t mask;  /* sample_regs_user; the kernel requires at least one register */
  uint32_t count; /* number of registers in it */
  int lr;         /* index of the link register, in their order, or PERF_REGS_NO_LR */
  uint32_t
      stack_bytes; /* sample_stack_user: without a link register, the word at the stack pointer */
  uint64_t address_mask; /* the address bits of a link register */
};

/* The start of an unwind; indexes are in the order of the kernel's numbers. */
struct perf_walk_regs {
  uint64_t mask;
  uint32_t count;
  int pc, sp, lr; /* lr: or PERF_REGS_NO_LR */
  int tracked[PERF_REGS_TRACKED];
  uint32_t general_count;
  uint8_t general[PERF_REGS_GENERAL]; /* or PERF_REGS_NONE: missing */
};

/* In one of perf_regs_CPU.c, chosen by CMake. */
extern const struct perf_regs perf_regs;
extern const struct perf_walk_regs perf_walk_regs;

#endif
