/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V: the registers that a walk uses (unwind/unwind_arch_riscv64.c). */
#include "arch.h"

#include <sys/syscall.h>
#include <ucontext.h>

enum {
  RETURN_ADDRESS = 1,
  STACK_POINTER = 2,
  FRAME_POINTER = 8,
  FIRST_SAVED = 9,
  NUMBER = 17,
  ECALL = 0x73
};

void arch_read(const void *context, struct unwind_registers *ret) {
  const unsigned long *registers = ((const ucontext_t *)context)->uc_mcontext.__gregs;
  ret->pc = registers[REG_PC];
  ret->sp = registers[STACK_POINTER];
  ret->tracked[0] = registers[FRAME_POINTER];
  ret->tracked[1] = registers[FIRST_SAVED];
  ret->lr = registers[RETURN_ADDRESS];
}

const uint8_t *arch_general(const void *context) {
  return (const uint8_t *)((const ucontext_t *)context)->uc_mcontext.__gregs;
}

void arch_write(void *context, const struct unwind_registers *at) {
  unsigned long *registers = ((ucontext_t *)context)->uc_mcontext.__gregs;
  registers[REG_PC] = at->pc;
  registers[STACK_POINTER] = at->sp;
  registers[FRAME_POINTER] = at->tracked[0];
  registers[FIRST_SAVED] = at->tracked[1];
  registers[RETURN_ADDRESS] = at->lr;
}

bool arch_is_behind_sigprocmask(const void *context) {
  const unsigned long *registers = ((const ucontext_t *)context)->uc_mcontext.__gregs;
  if (registers[NUMBER] != SYS_rt_sigprocmask || registers[12] != 0 || registers[10] != 0)
    return false;
  const volatile uint16_t *next = (const volatile uint16_t *)registers[REG_PC];
  return arch_is_in_page(registers[REG_PC], 2 * sizeof *next) && next[-2] == ECALL && next[-1] == 0;
}

uintptr_t arch_thread_pointer(void) {
  uintptr_t self;
  __asm__ volatile("mv %0, tp" : "=r"(self));
  return self;
}
