/* SPDX-License-Identifier: Apache-2.0 */
/* What each CPU must answer of a signal's context and of a thread; one file a CPU, chosen by CMake.
   What a walk must know of it is in unwind/unwind_arch.h. */
#ifndef PRELOAD_ARCH_H
#define PRELOAD_ARCH_H

#include "unwind/unwind_frames.h"

#include <ucontext.h>

/* Reads the interrupted registers out of CONTEXT, a handler's third argument; lr is left alone
   where the CPU has none; general is not filled in.  Signal-safe. */
void arch_read(const void *context, struct unwind_registers *ret);

/* The general registers in CONTEXT, for unwind_registers.general.  Signal-safe. */
const uint8_t *arch_general(const void *context);
/* The same of what a pair needs: the PC, and the link register or the word at the stack pointer
   where that lies on STACK, whose high is a multiple of a word.  Signal-safe. */
static inline void arch_read_pair(const void *context, const struct unwind_stack *stack,
                                  uintptr_t *ret_pc, uintptr_t *ret_link) {
#ifdef __x86_64__ /* inline: two words */
  const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
  uintptr_t sp = (uintptr_t)registers[REG_RSP];
  bool is_word = sp % sizeof sp == 0 && sp >= stack->low && sp < stack->high;
  *ret_pc = (uintptr_t)registers[REG_RIP];
  *ret_link = is_word ? *(const volatile uintptr_t *)sp : 0;
#else
  struct unwind_registers at;
  arch_read(context, &at);
  *ret_pc = at.pc;
  *ret_link = unwind_link(&at, stack);
#endif
}

/* Puts AT into CONTEXT, as if they had been interrupted. */
void arch_write(void *context, const struct unwind_registers *at);

/* What tells the calling thread from all others: where libc's descriptor of it begins or ends, by
   the address that the CPU keeps.  No thread-local storage of ours is touched.  Signal-safe. */
uintptr_t arch_thread_pointer(void);

#endif
