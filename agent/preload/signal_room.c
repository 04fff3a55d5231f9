/* SPDX-License-Identifier: Apache-2.0 */
/* A signal's frame must fit below what a stack holds already, or the kernel ends the program.  With
   AVX-512 a frame takes 3.4 KiB: more than the smallest stack of musl, and more than MINSIGSTKSZ,
   by which many programs still measure their alternate stacks.  They live with it, because the
   signals that they expect never come; ours would come a hundred times a second, and on the
   alternate stack, because Go and others die of anything else (SA_ONSTACK).

   So sigaltstack is a call that we put ourselves before: a thread that takes too small a
   stack for its signals is not sampled from there on, and counted.  One that asks the kernel
   without libc is not met here, nor one that does so in a sandbox that it has entered, where its
   timer cannot be deleted (call_gate.c); the kernel refuses such stacks itself where it was told to
   be strict. */
#include "signal_room.h"
#include "next_call.h"
#include "raw_syscall.h"
#include "sampling.h"

#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>

enum {
  FRAME_MIN_BYTES = 2048, /* where the kernel does not say */
  HANDLER_BYTES = 2048,   /* twice what the handler may take (tests/handler.sh) */
};

typedef int alternate_fn(const stack_t *, stack_t *);

static alternate_fn *real_alternate;

void signal_room_install(void) {
  /* ISO C has no conversion from an object pointer to a function pointer; POSIX promises it. */
  union {
    void *object;
    alternate_fn *function;
  } real = {.object = next_call("sigaltstack")};
  real_alternate = real.function;
}

bool signal_room_fits(size_t bytes) {
  size_t frame_bytes = getauxval(AT_MINSIGSTKSZ);
  if (frame_bytes < FRAME_MIN_BYTES) frame_bytes = FRAME_MIN_BYTES;
  return bytes >= frame_bytes + HANDLER_BYTES;
}

static bool is_too_small(const stack_t *stack) {
  return (stack->ss_flags & SS_DISABLE) == 0 && !signal_room_fits(stack->ss_size);
}

bool signal_room_is_missing(void) {
  stack_t now = {.ss_flags = SS_DISABLE};
  long error = raw_syscall(SYS_sigaltstack, 0, (uintptr_t)&now, 0, 0);
  return error == 0 && is_too_small(&now);
}

__attribute__((visibility("default"))) int sigaltstack(const stack_t *restrict next,
                                                       stack_t *restrict before) {
  if (next != NULL && is_too_small(next) && sampling_is_on()) sampling_leave();
  if (real_alternate != NULL) return real_alternate(next, before);
  /* Before our constructor ran, or where we do nothing: libc's own does no more than this. */
  long error = raw_syscall(SYS_sigaltstack, (uintptr_t)next, (uintptr_t)before, 0, 0);
  if (error == 0) return 0;
  errno = (int)-error;
  return -1;
}
