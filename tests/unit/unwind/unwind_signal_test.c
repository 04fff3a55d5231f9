/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the arch file's description of the kernel's signal frame with a handler's arguments: the
   address of the saved registers, and the stack pointer after the handler's return. */
#include "unwind/unwind_arch.h"

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

static ucontext_t seen;
static uintptr_t frame, context;

static void look(int signal, siginfo_t *info, void *given) {
  (void)signal;
  (void)info;
  frame = (uintptr_t)__builtin_dwarf_cfa();
  context = (uintptr_t)given;
  memcpy(&seen, given, sizeof seen);
}

static uintptr_t word_at(uint16_t offset) {
  uintptr_t word;
  size_t at = frame + offset - context;
  assert_in_range(at, 0, sizeof seen - sizeof word);
  memcpy(&word, (const uint8_t *)&seen + at, sizeof word);
  return word;
}

static __attribute__((noinline)) uintptr_t interrupt(void) {
  raise(SIGUSR1);
  return (uintptr_t)__builtin_frame_address(0);
}

static void the_kernel_saves_registers_where_they_are_looked_for(void **state) {
  const struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO};
  (void)state;
  assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
  uintptr_t below = interrupt();
  assert_true(context >= frame);
  uintptr_t sp = word_at(unwind_arch.signal.sp);
  assert_true(sp >= context + sizeof(uintptr_t) && sp <= below);
  assert_true(sp % sizeof(uintptr_t) == 0);
  uintptr_t pc = word_at(unwind_arch.signal.pc);
  uintptr_t code = (uintptr_t)raise;
  uintptr_t far = pc > code ? pc - code : code - pc;
  assert_true(far < 0x100000); /* both are in the C library */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_kernel_saves_registers_where_they_are_looked_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
