/* SPDX-License-Identifier: Apache-2.0 */
/* A board's unwinder supports only its own CPU; the collector reads files of all CPUs. Register
   numbers are DWARF's. */
#include "lr_arch.h"

#include <elf.h>
#include <stddef.h>

static const struct unwind_arch archs[] = {
    {.machine = EM_ARM, .pc = 14, .sp = 13, .lr = 14, .tracked = {11, 7}, .has_lr = true},
    {.machine = EM_AARCH64, .pc = 30, .sp = 31, .lr = 30, .tracked = {29, 19}, .has_lr = true},
    {.machine = EM_MIPS, .pc = 31, .sp = 29, .lr = 31, .tracked = {30, 16}, .has_lr = true},
    {.machine = EM_RISCV, .pc = 1, .sp = 2, .lr = 1, .tracked = {8, 9}, .has_lr = true},
    {.machine = EM_X86_64, .pc = 16, .sp = 7, .lr = 16, .tracked = {6, 3}, .has_lr = false},
};

const struct unwind_arch *lr_arch_find(uint16_t machine) {
  for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
    if (archs[i].machine == machine) return &archs[i];
  return NULL;
}
