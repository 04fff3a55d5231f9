/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: the registers that a walk uses (unwind/unwind_arch_x86_64.c), in the context layout of
   glibc and musl. */
#include "arch.h"

#include <signal.h>
#include <ucontext.h>

void arch_read(const void *context, struct unwind_registers *ret) {
  const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
  ret->pc = (uintptr_t)registers[REG_RIP];
  ret->sp = (uintptr_t)registers[REG_RSP];
  ret->tracked[0] = (uintptr_t)registers[REG_RBP];
  ret->tracked[1] = (uintptr_t)registers[REG_RBX];
}

const uint8_t *arch_general(const void *context) {
  return (const uint8_t *)((const ucontext_t *)context)->uc_mcontext.gregs;
}

void arch_write(void *context, const struct unwind_registers *at) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  registers[REG_RIP] = (greg_t)at->pc;
  registers[REG_RSP] = (greg_t)at->sp;
  registers[REG_RBP] = (greg_t)at->tracked[0];
  registers[REG_RBX] = (greg_t)at->tracked[1];
}

bool arch_is_behind_sigprocmask(const void *context) {
  const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
  /* r10 is the size of a set; rdx is the destination of the old mask. */
  return registers[REG_RCX] == registers[REG_RIP] && registers[REG_R10] == 8 &&
         registers[REG_RDX] == 0 && registers[REG_RAX] == 0 &&
         (registers[REG_RDI] == SIG_UNBLOCK || registers[REG_RDI] == SIG_SETMASK);
}

/* The psABI stores the thread pointer in the word that it points at. */
uintptr_t arch_thread_pointer(void) {
  uintptr_t self;
  __asm__ volatile("mov %%fs:0, %0" : "=r"(self));
  return self;
}
