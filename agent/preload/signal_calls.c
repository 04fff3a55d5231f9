/* SPDX-License-Identifier: Apache-2.0 */
/* The signal was unused when the agent took it. A program that starts to use it has precedence, so
   the agent wraps the calls that do. If a program sets a disposition for the signal, or requests it
   by signalfd, this process leaves sampling for good before the call. All timers are deleted, and
   their pending expiries are removed. In the result, and in a query, the signal appears at its
   default, as without the agent.

   A thread that waits for the signal (sigwait and the like) would receive only its own expiries,
   which are sent to threads. So only that thread leaves sampling. (Expiries of an itimer are sent
   to the process: there the process leaves.)

   Pending signals of other senders are put back unchanged. An expiry that is pending in another
   thread, which blocks the signal, is out of reach. That thread receives it unless the kernel
   discards it with the timer (since Linux 6.13).

   Behind a closed gate (call_gate.c) no timer can be deleted, so a program that takes the signal
   there receives the agent's expiries too. So does a program that bypasses libc. */
#include "signal_calls.h"
#include "call_gate.h"
#include "control.h"
#include "kernel_words.h"
#include "next_call.h"
#include "raw_syscall.h"
#include "sampling.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <time.h>

enum {
  PENDING_MAX = 8, /* a timer has at most one pending */
  FOREIGN_MAX = 2, /* a standard signal is pending once for the thread and once for the process */
};

typedef void handler_fn(int);

/* ISO C has no conversion from an object pointer to a function pointer; POSIX promises it. */
union symbol {
  void *object;
  int (*action)(int, const struct sigaction *, struct sigaction *);
  handler_fn *(*set)(int, handler_fn *);
  int (*change)(int);
  int (*interrupt)(int, int);
  int (*descriptor)(int, const sigset_t *, int);
  int (*wait)(const sigset_t *, int *);
  int (*wait_event)(const sigset_t *, siginfo_t *);
  int (*wait_timed)(const sigset_t *, siginfo_t *, const struct timespec *);
};

enum call {
  ACTION,
  SIGNAL,
  SSIGNAL,
  BSD,
  SYSV,
  SYSV_OLD,
  SET,
  IGNORE,
  INTERRUPT,
  DESCRIPTOR,
  WAIT,
  WAIT_EVENT,
  WAIT_TIMED,
  CALLS
};

static union symbol reals[CALLS];

static const char *const names[CALLS] = {
    "sigaction", "signal",       "ssignal",  "bsd_signal", "sysv_signal", "__sysv_signal", "sigset",
    "sigignore", "siginterrupt", "signalfd", "sigwait",    "sigwaitinfo", "sigtimedwait"};

/* Looked up here if the constructor has not run yet. */
static union symbol real(enum call call) {
  if (reals[call].object == NULL) reals[call].object = next_call(names[call]);
  return reals[call];
}

void signal_calls_install(void) {
  for (unsigned call = 0; call < CALLS; call++) (void)real((enum call)call);
}

static void put_back(siginfo_t *event) {
  uintptr_t pid = raw_getpid(), signal = (uintptr_t)event->si_signo;
  if (event->si_code == SI_TKILL)
    raw_syscall(SYS_rt_tgsigqueueinfo, pid, raw_gettid(), signal, (uintptr_t)event);
  else
    raw_syscall(SYS_rt_sigqueueinfo, pid, signal, (uintptr_t)event, 0);
}

static long take_at_once(const struct kernel_signals *signals, siginfo_t *event) {
  const struct kernel_time64 at_once = {0, 0};
  uintptr_t set = (uintptr_t)signals, to = (uintptr_t)event, most = (uintptr_t)&at_once;
  long taken = raw_syscall(SYS_rt_sigtimedwait, set, to, most, sizeof *signals);
  if (taken != -ENOSYS) return taken;
  return raw_syscall(SYS_rt_sigtimedwait_time64, set, to, most, sizeof *signals);
}

/* Looks among the signals that are pending for the calling thread or the process. */
static void drop_expiries(void) {
  struct kernel_signals ours = kernel_signals_of(sampling_signal());
  siginfo_t foreign[FOREIGN_MAX], event;
  unsigned count = 0;
  for (unsigned i = 0; i < PENDING_MAX && count < FOREIGN_MAX; i++) {
    if (take_at_once(&ours, &event) <= 0) break;
    if (!control_is_own(&event)) foreign[count++] = event;
  }
  for (unsigned i = 0; i < count; i++) put_back(&foreign[i]);
}

static bool is_ours(int signal) {
  return sampling_is_on() && signal == sampling_signal();
}

static void leave(int signal) {
  if (!is_ours(signal) || !call_gate_enter()) return;
  if (control_leave(RING_LEFT_SIGNAL)) drop_expiries();
  call_gate_leave();
}

static bool has_ours(const sigset_t *set) {
  return set != NULL && sampling_is_on() && sigismember(set, sampling_signal()) == 1;
}

static void leave_thread(const sigset_t *set) {
  if (!has_ours(set)) return;
  if (!sampling_is_by_thread()) leave(sampling_signal());
  if (!sampling_is_by_thread() || !sampling_leave() || !call_gate_enter()) return;
  drop_expiries();
  call_gate_leave();
}

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int sigaction(int signal, const struct sigaction *restrict action,
                       struct sigaction *restrict before) {
  if (action != NULL) leave(signal);
  int result = real(ACTION).action(signal, action, before);
  if (result == 0 && before != NULL && before->sa_sigaction == control_on_signal)
    *before = (struct sigaction){.sa_handler = SIG_DFL};
  return result;
}

static handler_fn *set_handler(enum call call, int signal, handler_fn *handler) {
  union {
    handler_fn *plain;
    void (*full)(int, siginfo_t *, void *);
  } before;
  if (real(call).object == NULL) {
    errno = ENOSYS;
    return SIG_ERR;
  }
  leave(signal);
  before.plain = real(call).set(signal, handler);
  return before.full == control_on_signal ? SIG_DFL : before.plain;
}

/* libc's headers do not name all of them. */
EXPORTED handler_fn *ssignal(int signal, handler_fn *handler);
EXPORTED handler_fn *bsd_signal(int signal, handler_fn *handler);
EXPORTED handler_fn *sysv_signal(int signal, handler_fn *handler);
EXPORTED handler_fn *__sysv_signal(int signal, handler_fn *handler);

EXPORTED handler_fn *signal(int signal, handler_fn *handler) {
  return set_handler(SIGNAL, signal, handler);
}

handler_fn *ssignal(int signal, handler_fn *handler) {
  return set_handler(SSIGNAL, signal, handler);
}

handler_fn *bsd_signal(int signal, handler_fn *handler) {
  return set_handler(BSD, signal, handler);
}

handler_fn *sysv_signal(int signal, handler_fn *handler) {
  return set_handler(SYSV, signal, handler);
}

handler_fn *__sysv_signal(int signal, handler_fn *handler) {
  return set_handler(SYSV_OLD, signal, handler);
}

EXPORTED handler_fn *sigset(int signal, handler_fn *handler) {
  return set_handler(SET, signal, handler);
}

EXPORTED int sigignore(int signal) {
  leave(signal);
  return real(IGNORE).change(signal);
}

EXPORTED int siginterrupt(int signal, int flag) {
  leave(signal);
  return real(INTERRUPT).interrupt(signal, flag);
}

EXPORTED int signalfd(int fd, const sigset_t *set, int flags) {
  if (has_ours(set)) leave(sampling_signal());
  return real(DESCRIPTOR).descriptor(fd, set, flags);
}

EXPORTED int sigwait(const sigset_t *restrict set, int *restrict ret_signal) {
  leave_thread(set);
  return real(WAIT).wait(set, ret_signal);
}

EXPORTED int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict ret_event) {
  leave_thread(set);
  return real(WAIT_EVENT).wait_event(set, ret_event);
}

EXPORTED int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict ret_event,
                          const struct timespec *restrict most) {
  leave_thread(set);
  return real(WAIT_TIMED).wait_timed(set, ret_event, most);
}
