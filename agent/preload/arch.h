/* SPDX-License-Identifier: Apache-2.0 */
/* What each CPU must answer of a signal's context and of a thread; one file a CPU, chosen by CMake.
   What a walk must know of it is in unwind/unwind_arch.h. */
#ifndef PRELOAD_ARCH_H
#define PRELOAD_ARCH_H

#include "unwind/unwind_frames.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
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

/* 1 where the thread blocks SIGNAL again as soon as the call ends that SIGNAL, which has
   interrupted CONTEXT, came in (ppoll and the like); else 0.  Signal-safe, as the next two. */
static inline uint32_t arch_is_masked(int signal, const void *context) {
  const ucontext_t *interrupted = context;
  const unsigned long *mask = (const unsigned long *)(const void *)&interrupted->uc_sigmask;
  unsigned bit = ((unsigned)signal - 1) % 64, word_bits = 8 * sizeof *mask;
  return (uint32_t)(mask[bit / word_bits] >> bit % word_bits & 1);
}

/* Whether the thread was interrupted right behind a successful rt_sigprocmask that did not ask for
   the mask before: as programs let signals through.  False on MIPS, where a call leaves no trace.
 */
bool arch_is_behind_sigprocmask(const void *context);

/* 0 unless one of both may be so: without a branch, for the shortest way. */
static inline uint32_t arch_may_have_waited(int signal, const void *context) {
  const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
#ifdef __x86_64__ /* a system call leaves its return address in rcx */
  bool is_call = machine->gregs[REG_RCX] == machine->gregs[REG_RIP];
#elif defined(__aarch64__)
  bool is_call = machine->regs[8] == SYS_rt_sigprocmask;
#elif defined(__arm__)
  bool is_call = machine->arm_r7 == SYS_rt_sigprocmask;
#elif defined(__riscv)
  bool is_call = machine->__gregs[17] == SYS_rt_sigprocmask;
#else
  bool is_call = false;
  (void)machine;
#endif
  return arch_is_masked(signal, context) | is_call;
}

/* Whether an instruction of BYTES may be read that ends at PC. */
static inline bool arch_is_in_page(uintptr_t pc, unsigned bytes) {
  return pc % 4096 >= bytes;
}

/* What tells the calling thread from all others: where libc's descriptor of it begins or ends, by
   the address that the CPU keeps.  No thread-local storage of ours is touched.  Signal-safe. */
uintptr_t arch_thread_pointer(void);

#endif
