/* SPDX-License-Identifier: Apache-2.0 */
/* MIPS, o32: the registers that a walk uses (unwind/unwind_arch_mips.c). The kernel saves registers
   in 64 bits even for a 32-bit program. */
#include "arch.h"

#include <ucontext.h>

/* The thread pointer lies this many bytes above the end of the thread's descriptor, so that a
   16-bit displacement reaches more of it. */
#define THREAD_POINTER_BIAS 0x7000

enum { FIRST_SAVED = 16, STACK_POINTER = 29, FRAME_POINTER = 30, RETURN_ADDRESS = 31 };

void arch_read(const void *context, struct unwind_registers *ret) {
  const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
  ret->pc = (uintptr_t)machine->pc;
  ret->sp = (uintptr_t)machine->gregs[STACK_POINTER];
  ret->tracked[0] = (uintptr_t)machine->gregs[FRAME_POINTER];
  ret->tracked[1] = (uintptr_t)machine->gregs[FIRST_SAVED];
  ret->lr = (uintptr_t)machine->gregs[RETURN_ADDRESS];
}

const uint8_t *arch_general(const void *context) {
  return (const uint8_t *)((const ucontext_t *)context)->uc_mcontext.gregs;
}

void arch_write(void *context, const struct unwind_registers *at) {
  mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
  machine->pc = at->pc;
  machine->gregs[STACK_POINTER] = at->sp;
  machine->gregs[FRAME_POINTER] = at->tracked[0];
  machine->gregs[FIRST_SAVED] = at->tracked[1];
  machine->gregs[RETURN_ADDRESS] = at->lr;
}

bool arch_is_behind_sigprocmask(const void *context) {
  (void)context;
  return false;
}

uintptr_t arch_thread_pointer(void) {
  uintptr_t self;
  __asm__ volatile(".set push; .set mips32r2; rdhwr %0, $29; .set pop" : "=r"(self));
  return self - THREAD_POINTER_BIAS;
}
