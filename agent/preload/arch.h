/* SPDX-License-Identifier: Apache-2.0 */
/* Access to a signal's context and to a thread on each CPU. One file for each CPU, chosen by CMake.
   The part that a walk needs is in unwind/unwind_arch.h. */
#ifndef PRELOAD_ARCH_H
#define PRELOAD_ARCH_H

#include "unwind/unwind_frames.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* Reads the interrupted registers from CONTEXT, a handler's third argument. Leaves lr unchanged on
   CPUs without a link register. Does not fill in general.  Signal-safe. */
void arch_read(const void *context, struct unwind_registers *ret);

/* The general registers in CONTEXT, for unwind_registers.general.  Signal-safe. */
const uint8_t *arch_general(const void *context);
/* As arch_read, but only the two words of a pair: the PC, and the link register. On a CPU without a
   link register, the word at the stack pointer if that lies on STACK. STACK's high is a multiple of
   a word.  Signal-safe. */
static inline void arch_read_pair(const void *context, const struct unwind_stack *stack,
                                  uintptr_t *ret_pc, uintptr_t *ret_link) {
#ifdef __x86_64__ /* inline: only two words */
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

/* Writes AT into CONTEXT, as if those registers had been interrupted. */
void arch_write(void *context, const struct unwind_registers *at);

/* 1 if the thread blocks SIGNAL again as soon as the interrupted call ends; else 0. That is so if
   the call unblocks SIGNAL only for its own duration (ppoll and the like). CONTEXT is the
   interrupted context.  Signal-safe, as the next two. */
static inline uint32_t arch_is_masked(int signal, const void *context) {
  const ucontext_t *interrupted = context;
  const unsigned long *mask = (const unsigned long *)(const void *)&interrupted->uc_sigmask;
  unsigned bit = ((unsigned)signal - 1) % 64, word_bits = 8 * sizeof *mask;
  return (uint32_t)(mask[bit / word_bits] >> bit % word_bits & 1);
}

/* True if the thread was interrupted right after a successful rt_sigprocmask that did not request
   the previous mask. Programs unblock signals that way. False on MIPS, where a call leaves no
   trace. */
bool arch_is_behind_sigprocmask(const void *context);

/* 0 if neither arch_is_masked nor arch_is_behind_sigprocmask can hold. Without a branch, for the
   fast path. */
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

/* True if an instruction of BYTES that ends at PC may be read. */
static inline bool arch_is_in_page(uintptr_t pc, unsigned bytes) {
  return pc % 4096 >= bytes;
}

/* Identifies the calling thread: the address that the CPU keeps, at which libc's thread descriptor
   begins or ends. Touches no thread-local storage of the agent.  Signal-safe. */
uintptr_t arch_thread_pointer(void);

#endif
