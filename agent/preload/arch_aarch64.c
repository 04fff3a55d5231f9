/* SPDX-License-Identifier: Apache-2.0 */
/* AArch64: x29 points at the frame record (caller's x29, return address).  Return addresses may
   carry a pointer authentication code in their upper bits; user space has at most 52 bits of
   address, so the code is cut off by mask, which needs no instruction that an old core lacks. */
#include "arch.h"

#include <ucontext.h>

enum { FRAME_POINTER = 29, LINK_REGISTER = 30 };

#define USER_ADDRESS_MASK ((UINT64_C(1) << 52) - 1)

void arch_read(const void *context, struct arch_registers *ret) {
  const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
  ret->pc = machine->pc;
  ret->sp = machine->sp;
  ret->fp = machine->regs[FRAME_POINTER];
  ret->lr = machine->regs[LINK_REGISTER];
  ret->has_lr = true;
}

void arch_write(void *context, const struct arch_registers *at) {
  mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
  machine->pc = at->pc;
  machine->sp = at->sp;
  machine->regs[FRAME_POINTER] = at->fp;
  machine->regs[LINK_REGISTER] = at->lr;
}

uintptr_t arch_thread_pointer(void) {
  uintptr_t self;
  __asm__ volatile("mrs %0, tpidr_el0" : "=r"(self));
  return self;
}

const struct arch_frames arch_frames = {.pair_offset = 0, .return_mask = USER_ADDRESS_MASK};
