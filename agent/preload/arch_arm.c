/* SPDX-License-Identifier: Apache-2.0 */
/* ARM, in ARM or Thumb state: the registers that a walk uses (unwind/unwind_arch_arm.c). */
#include "arch.h"

#include <sys/syscall.h>
#include <ucontext.h>

enum { CPSR_THUMB = 0x20, SVC_THUMB = 0xdf00, SVC_LOW = 0, SVC_HIGH = 0xef00 };

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

bool arch_is_behind_sigprocmask(const void *context) {
  const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
  if (machine->arm_r7 != SYS_rt_sigprocmask || machine->arm_r2 != 0 || machine->arm_r0 != 0)
    return false;
  const volatile uint16_t *next = (const volatile uint16_t *)(machine->arm_pc & ~1UL);
  if (!arch_is_in_page(machine->arm_pc, 2 * sizeof *next)) return false;
  bool is_thumb = (machine->arm_cpsr & CPSR_THUMB) != 0;
  return is_thumb ? next[-1] == SVC_THUMB : next[-2] == SVC_LOW && next[-1] == SVC_HIGH;
}

uintptr_t arch_thread_pointer(void) {
  uintptr_t self;
  __asm__ volatile("mrc p15, 0, %0, c13, c0, 3" : "=r"(self));
  return self;
}
