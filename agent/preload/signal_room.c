/* SPDX-License-Identifier: Apache-2.0 */
/* A signal's frame must fit below the used part of a stack, or the kernel ends the program. With
   AVX-512 a frame takes 3.4 KiB. That is more than the smallest stack of musl, and more than
   MINSIGSTKSZ, by which many programs still size their alternate stacks. This is harmless for them,
   because the signals that they expect never arrive. The agent's signal arrives a hundred times a
   second. It uses the alternate stack (SA_ONSTACK), because Go and others die without it.

   So sigaltstack is wrapped. A thread that sets too small a stack is no longer sampled, and is
   counted. Not detected: a call that bypasses libc, and a call inside a sandbox, where the timer
   cannot be deleted (call_gate.c). A kernel configured to be strict rejects such stacks itself.

   The kernel announces the largest frame that any thread can get (AT_MINSIGSTKSZ). On a CPU with
   AMX that is 12 KiB, and 3.4 KiB without tile data (frame_state_x86_64.c). Rust gives each thread
   an alternate stack of exactly the announced size. It fits the handler and a frame without tiles,
   but not the handler and a frame with tiles. Such a stack is narrow.

     stack:    record that it is narrow, then check the permission: if granted, it does not fit
     request:  the kernel permits, then check for a narrow stack: if present, the process leaves

   In this order at least one side sees the other. If a process requests without libc's syscall(),
   only stacks that are set later detect it.

   A narrow stack counts for good: a process leaves even if its thread has a larger stack by then,
   or has ended. A precise count would have to follow each thread at each of its calls. */
#include "signal_room.h"
#include "call_gate.h"
#include "control.h"
#include "frame_state.h"
#include "next_call.h"
#include "raw_syscall.h"
#include "sampling.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/auxv.h>

enum {
  FRAME_MIN_BYTES = 2048,  /* if the kernel announces nothing (x86: before Linux 5.14) */
  FRAME_REST_BYTES = 1024, /* registers, signal information and padding besides the CPU state */
  HANDLER_BYTES = 2048,    /* twice the handler's limit (tests/handler.sh) */
};

typedef int alternate_fn(const stack_t *, stack_t *);

static alternate_fn *real_alternate;
static struct frame_state state;
static _Atomic bool has_narrow, is_permitted;

void signal_room_install(void) {
  /* ISO C has no conversion from an object pointer to a function pointer; POSIX promises it. */
  union {
    void *object;
    alternate_fn *function;
  } real = {.object = next_call("sigaltstack")};
  real_alternate = real.function;
  frame_state_read(&state);
}

/* The stack bytes needed for a frame with STATE_BYTES of CPU state and for the handler. */
static size_t room_for(size_t state_bytes) {
  size_t announced = getauxval(AT_MINSIGSTKSZ);
  size_t rest = announced > state.most_bytes ? announced - state.most_bytes : FRAME_REST_BYTES;
  size_t frame = rest + state_bytes;
  return (frame > FRAME_MIN_BYTES ? frame : FRAME_MIN_BYTES) + HANDLER_BYTES;
}

static bool may_need_most(void) {
  atomic_store(&has_narrow, true);
  if (atomic_load(&is_permitted) || !call_gate_enter()) return atomic_load(&is_permitted);
  if (frame_state_is_permitted()) atomic_store(&is_permitted, true);
  call_gate_leave();
  return atomic_load(&is_permitted);
}

bool signal_room_fits(size_t bytes) {
  if (bytes >= room_for(state.most_bytes)) return true;
  return bytes >= room_for(state.usual_bytes) && !may_need_most();
}

void signal_room_note_permission(void) {
  atomic_store(&is_permitted, true);
  if (!atomic_load(&has_narrow) || !sampling_is_on() || !call_gate_enter()) return;
  if (control_leave(RING_LEFT_CRAMPED)) {
    sampling_skip();
    sampling_note_cramped();
  }
  call_gate_leave();
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
  if (next != NULL && sampling_is_on() && is_too_small(next) && sampling_leave())
    sampling_note_cramped();
  if (real_alternate != NULL) return real_alternate(next, before);
  /* Before the constructor ran, or if the agent is inactive. libc's function does no more than
     this. */
  long error = raw_syscall(SYS_sigaltstack, (uintptr_t)next, (uintptr_t)before, 0, 0);
  if (error == 0) return 0;
  errno = (int)-error;
  return -1;
}
