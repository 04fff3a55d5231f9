/* SPDX-License-Identifier: Apache-2.0 */
/* A program enters a seccomp sandbox by prctl or by syscall(SYS_seccomp), directly or through a
   library. The agent wraps both and closes the gate (call_gate.c) before the call; if the call
   fails, the gate opens again.

   syscall() may make any call, including clone with another stack. A function that returned in the
   child through its own frame would return to nowhere. So other calls jump to libc's function with
   all words and the stack unchanged. The compiler makes this a tail call, which tests/handler.sh
   checks. Both are defined with the maximum number of words instead of as variadic: the words lie
   in the same places.

   Syscall user dispatch, by which emulators receive the calls of foreign code as SIGSYS, is no
   sandbox, and the handler makes no call. But libc's return from the handler is a call. An emulator
   that does not exempt that address would get a call that its code did not make. So a thread that
   requests such a dispatch leaves sampling first.

   A program that requests larger signal frames from the kernel also does that by syscall()
   (signal_room.c).

   Until the constructor has found libc's functions, the wrappers call the kernel directly, because
   dlsym may allocate and allocators call these two as they start.

   Not handled: the inline instruction, as in programs with a runtime of their own, and a library
   that found libc's functions by dlsym(RTLD_NEXT). */
#include "sandbox_calls.h"
#include "arch.h"
#include "call_gate.h"
#include "frame_state.h"
#include "kernel_words.h"
#include "next_call.h"
#include "raw_syscall.h"
#include "sampling.h"
#include "signal_room.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>

typedef long word;
typedef long syscall_fn(word, word, word, word, word, word, word);
typedef int prctl_fn(int, word, word, word, word);

static long direct_syscall(word number, word a, word b, word c, word d, word e, word f) {
  const uintptr_t words[6] = {(uintptr_t)a, (uintptr_t)b, (uintptr_t)c,
                              (uintptr_t)d, (uintptr_t)e, (uintptr_t)f};
  long result = raw_syscall_six(number, words);
  if (result >= 0 || result < -4095) return result;
  errno = (int)-result;
  return -1;
}

static int direct_prctl(int option, word a, word b, word c, word d) {
  return (int)direct_syscall(SYS_prctl, option, a, b, c, d, 0);
}

static syscall_fn *real_syscall = direct_syscall;
static prctl_fn *real_prctl = direct_prctl;

void sandbox_calls_install(void) {
  /* ISO C has no conversion from an object pointer to a function pointer; POSIX promises it. */
  union {
    void *object;
    syscall_fn *syscall;
    prctl_fn *prctl;
  } found = {.object = next_call("syscall")};
  if (found.object != NULL) real_syscall = found.syscall;
  found.object = next_call("prctl");
  if (found.object != NULL) real_prctl = found.prctl;
}

/* <linux/seccomp.h>, which not every libc's compiler finds. */
#ifndef SECCOMP_SET_MODE_STRICT
#define SECCOMP_SET_MODE_STRICT 0
#define SECCOMP_SET_MODE_FILTER 1
#endif

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

enum { DISPATCH_ON = 1 };

/* The kernel's record of a signal's handler. */
struct kernel_action {
  uintptr_t handler, flags, restorer; /* exists on CPUs with syscall user dispatch */
  struct kernel_signals mask;
};

/* True if the return from the agent's handler lies outside the LEN exempt bytes at FROM. */
static bool catches_returns(uintptr_t from, uintptr_t len) {
  struct kernel_action ours = {0};
  if (!sampling_is_on()) return false;
  long error = raw_syscall(SYS_rt_sigaction, (uintptr_t)sampling_signal(), 0, (uintptr_t)&ours,
                           KERNEL_SIGNAL_BYTES);
  return error != 0 || ours.restorer - from >= len;
}

static void before_dispatch(word mode, word from, word len) {
  if (mode == DISPATCH_ON && catches_returns((uintptr_t)from, (uintptr_t)len)) sampling_leave();
}

static bool begins_sandbox(word number, word a) {
  if (number == SYS_prctl) return (int)a == PR_SET_SECCOMP;
  return a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER;
}

/* Any result of 0 or above is success: a filter may come with a descriptor. */
static long ended(long result, bool is_counted) {
  if (result < 0 && is_counted) call_gate_reopen();
  return result;
}

static long permitted(long result, word request) {
  if (result == 0 && request == FRAME_STATE_REQUEST) signal_room_note_permission();
  return result;
}

static __attribute__((noinline)) long watched_syscall(word number, word a, word b, word c, word d,
                                                      word e, word f) {
  if (number == FRAME_STATE_CALL) return permitted(real_syscall(number, a, b, c, d, e, f), a);
  if (number == SYS_prctl && (int)a == PR_SET_SYSCALL_USER_DISPATCH) before_dispatch(b, c, d);
  if (!begins_sandbox(number, a)) return real_syscall(number, a, b, c, d, e, f);
  bool is_counted = call_gate_close(sampling_is_on());
  return ended(real_syscall(number, a, b, c, d, e, f), is_counted);
}

static __attribute__((noinline)) int watched_prctl(int option, word a, word b, word c, word d) {
  if (option == PR_SET_NAME) {
    int error = real_prctl(option, a, b, c, d);
    if (error == 0) sampling_name_thread(arch_thread_pointer(), (const char *)a);
    return error;
  }
  if (option == PR_SET_SYSCALL_USER_DISPATCH) {
    before_dispatch(a, b, c);
    return real_prctl(option, a, b, c, d);
  }
  bool is_counted = call_gate_close(sampling_is_on());
  return (int)ended(real_prctl(option, a, b, c, d), is_counted);
}

#define EXPORTED(name) __asm__(name) __attribute__((visibility("default")))

long exported_syscall(word number, word a, word b, word c, word d, word e, word f)
    EXPORTED("syscall");
int exported_prctl(int option, word a, word b, word c, word d) EXPORTED("prctl");

long exported_syscall(word number, word a, word b, word c, word d, word e, word f) {
  if (number == SYS_seccomp || number == SYS_prctl || number == FRAME_STATE_CALL)
    return watched_syscall(number, a, b, c, d, e, f);
  return real_syscall(number, a, b, c, d, e, f);
}

int exported_prctl(int option, word a, word b, word c, word d) {
  if (option == PR_SET_SECCOMP || option == PR_SET_SYSCALL_USER_DISPATCH || option == PR_SET_NAME)
    return watched_prctl(option, a, b, c, d);
  return real_prctl(option, a, b, c, d);
}
