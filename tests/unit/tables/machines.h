/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of each CPU that tables need, so tables of all CPUs can be made and read on any. The
   register numbers are those of the CPU's arch file (agent/unwind), which does not compile
   elsewhere. */
#ifndef TESTS_UNIT_TABLES_MACHINES_H
#define TESTS_UNIT_TABLES_MACHINES_H

#include "unwind/unwind_arch.h"

#include <elf.h>
#include <stddef.h>

static const struct unwind_arch machines[] = {
    {.machine = EM_X86_64, .pc = 16, .sp = 7, .lr = 16, .tracked = {6, 3}},
    {.machine = EM_AARCH64, .pc = 30, .sp = 31, .lr = 30, .tracked = {29, 19}, .has_lr = true},
    {.machine = EM_ARM,
     .pc = 14,
     .sp = 13,
     .lr = 14,
     .tracked = {11, 7},
     .has_lr = true,
     .signal = {.sp = 212}},
    {.machine = EM_RISCV, .pc = 1, .sp = 2, .lr = 1, .tracked = {8, 9}, .has_lr = true},
    {.machine = EM_MIPS, .pc = 31, .sp = 29, .lr = 31, .tracked = {30, 16}, .has_lr = true},
};

static inline const struct unwind_arch *machine_of(uint16_t machine) {
  for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
    if (machines[i].machine == machine) return &machines[i];
  return NULL;
}

#endif
