/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: `push %rbp; mov %rsp, %rbp` leaves the caller's frame pointer at (%rbp) and the return
   address above it.  There is no link register: before the push and after the pop, where %rbp is
   still the caller's, a walk misses the direct caller and nothing here can tell. */
#include "arch.h"

#include <ucontext.h>

void arch_read(const void *context, struct arch_registers *ret) {
  const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
  ret->pc = (uintptr_t)registers[REG_RIP];
  ret->sp = (uintptr_t)registers[REG_RSP];
  ret->fp = (uintptr_t)registers[REG_RBP];
  ret->lr = 0;
  ret->has_lr = false;
}

void arch_write(void *context, const struct arch_registers *at) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  registers[REG_RIP] = (greg_t)at->pc;
  registers[REG_RSP] = (greg_t)at->sp;
  registers[REG_RBP] = (greg_t)at->fp;
}

/* The psABI has the thread pointer itself in the word that it points at. */
uintptr_t arch_thread_pointer(void) {
  uintptr_t self;
  __asm__ volatile("mov %%fs:0, %0" : "=r"(self));
  return self;
}

const struct arch_frames arch_frames = {.pair_offset = 0, .return_mask = UINTPTR_MAX};
