/* SPDX-License-Identifier: Apache-2.0 */
/* In libfleetprof.a the wrappers are called __wrap_NAME (wrapped.syms). The program's calls reach
   them because it is linked with --wrap=NAME for each (libfleetprof.link). The linker then provides
   libc's function as __real_NAME. Functions that some libc lacks are weak: without them the wrapper
   is never called.

   The link line requests fleetprof_agent by -u, so that a program which makes none of those calls
   has the agent as well. */
#include "next_call.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* Only their addresses are used. */
#define REAL(name) extern char real_##name[] __asm__("__real_" #name)
REAL(pthread_create);
REAL(thrd_create);
REAL(pthread_setname_np);
REAL(sigaltstack);
REAL(prctl);
REAL(syscall);
REAL(sigaction);
REAL(signal);
REAL(sigset);
REAL(sigignore);
REAL(siginterrupt);
REAL(signalfd);
REAL(sigwait);
REAL(sigwaitinfo);
REAL(sigtimedwait);
REAL(ssignal) __attribute__((weak));
REAL(bsd_signal) __attribute__((weak));
REAL(sysv_signal) __attribute__((weak));
REAL(__sysv_signal) __attribute__((weak));

/* Looked up, but not wrapped. */
extern char its_pthread_sigmask[] __asm__("pthread_sigmask") __attribute__((weak));
extern char its_sigprocmask[] __asm__("sigprocmask") __attribute__((weak));

#define ROW(name) \
  { #name, real_##name }

static const struct {
  const char *name;
  char *address;
} calls[] = {ROW(pthread_create),
             ROW(thrd_create),
             ROW(pthread_setname_np),
             ROW(sigaltstack),
             ROW(prctl),
             ROW(syscall),
             ROW(sigaction),
             ROW(signal),
             ROW(sigset),
             ROW(sigignore),
             ROW(siginterrupt),
             ROW(signalfd),
             ROW(sigwait),
             ROW(sigwaitinfo),
             ROW(sigtimedwait),
             ROW(ssignal),
             ROW(bsd_signal),
             ROW(sysv_signal),
             ROW(__sysv_signal),
             {"pthread_sigmask", its_pthread_sigmask},
             {"sigprocmask", its_sigprocmask}};

extern const char fleetprof_agent[];
__attribute__((visibility("default"))) const char fleetprof_agent[] = FLEETPROF_VERSION;

void *next_call(const char *name) {
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(calls[i].name, name) == 0) return calls[i].address;
  return NULL;
}

int next_call_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void)) {
  return -pthread_atfork(before, after, in_child);
}
