/* SPDX-License-Identifier: Apache-2.0 */
/* ARM, which may run ARM or Thumb code: what a walk follows (unwind/unwind_arch_arm.c). */
#include "arch.h"

#include <ucontext.h>

void arch_read(const void *context, struct unwind_registers *ret) {
  const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
  ret->pc = machine->arm_pc;
  ret->sp = machine->arm_sp;
  ret->tracked[0] = machine->arm_fp;
  ret->tracked[1] = machine->arm_r7;
  ret->lr = machine->arm_lr;
}

const uint8_t *arch_general(const void *context) {
  return (const uint8_t *)&((const ucontext_t *)context)->uc_mcontext.arm_r0;
}

void arch_write(void *context, const struct unwind_registers *at) {
  mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
  machine->arm_pc = at->pc;
  machine->arm_sp = at->sp;
  machine->arm_fp = at->tracked[0];
  machine->arm_r7 = at->tracked[1];
  machine->arm_lr = at->lr;
}

uintptr_t arch_thread_pointer(void) {
  uintptr_t self;
  __asm__ volatile("mrc p15, 0, %0, c13, c0, 3" : "=r"(self));
  return self;
}
