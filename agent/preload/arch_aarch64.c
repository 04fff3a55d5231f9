/* SPDX-License-Identifier: Apache-2.0 */
/* AArch64: the registers that a walk uses (unwind/unwind_arch_aarch64.c). Return addresses are
   stored unchanged; the walker strips pointer authentication codes. */
#include "arch.h"

#include <sys/syscall.h>
#include <ucontext.h>

#define SVC 0xd4000001U /* svc #0 */

enum { FIRST_SAVED = 19, FRAME_POINTER = 29, LINK_REGISTER = 30 };

void arch_read(const void *context, struct unwind_registers *ret) {
  const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
  ret->pc = machine->pc;
  ret->sp = machine->sp;
  ret->tracked[0] = machine->regs[FRAME_POINTER];
  ret->tracked[1] = machine->regs[FIRST_SAVED];
  ret->lr = machine->regs[LINK_REGISTER];
}

const uint8_t *arch_general(const void *context) {
  return (const uint8_t *)((const ucontext_t *)context)->uc_mcontext.regs;
}

void arch_write(void *context, const struct unwind_registers *at) {
  mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
  machine->pc = at->pc;
  machine->sp = at->sp;
  machine->regs[FRAME_POINTER] = at->tracked[0];
  machine->regs[FIRST_SAVED] = at->tracked[1];
  machine->regs[LINK_REGISTER] = at->lr;
}

bool arch_is_behind_sigprocmask(const void *context) {
  const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
  if (machine->regs[8] != SYS_rt_sigprocmask || machine->regs[2] != 0 || machine->regs[0] != 0)
    return false;
  const volatile uint32_t *next = (const volatile uint32_t *)(uintptr_t)machine->pc;
  return arch_is_in_page(machine->pc, sizeof *next) && next[-1] == SVC;
}

uintptr_t arch_thread_pointer(void) {
  uintptr_t self;
  __asm__ volatile("mrs %0, tpidr_el0" : "=r"(self));
  return self;
}
