/* SPDX-License-Identifier: Apache-2.0 */
/* A program in a seccomp sandbox may be killed for a system call that its author did not foresee.
   The agent's calls are of that kind. So the agent makes every system call inside this gate, and
   the program's call that begins a sandbox closes it first (sandbox_calls.c). The filter may apply
   to all threads at once, so the closing thread waits for those inside:

     inside:   increment `inside`; if `closed`, decrement it and make no call
     closes:   increment `closed`; wait until `inside` is 0

   All accesses are in one total order (seq_cst). Threads inside make a few calls each. A fork of a
   large process takes longer, and the closer waits at most WAITS_MAX times WAIT_NS.

   The gate stays closed once the sandbox exists, because the kernel never lifts a sandbox either.
   Sampling itself continues behind a closed gate, because it makes no system call.

   A vfork child has its own sandbox but shares the gate. The gate is closed while the child exists
   (memory_guest.c), and threads of the parent stay outside that sandbox. */
#include "call_gate.h"
#include "kernel_words.h"
#include "memory_guest.h"
#include "raw_syscall.h"

#include <stdatomic.h>

enum { WAITS_MAX = 2000, WAIT_NS = 100000 };

static _Atomic uint32_t inside, closed;

void call_gate_leave(void) {
  atomic_fetch_sub(&inside, 1);
}

/* Does not check for vfork children: for callers that are none. */
static bool enter_own(void) {
  atomic_fetch_add(&inside, 1);
  if (atomic_load(&closed) == 0) return true;
  call_gate_leave();
  return false;
}

bool call_gate_enter(void) {
  if (!enter_own()) return false;
  if (!memory_guest_is_any()) return true;
  call_gate_leave();
  return false;
}

static bool is_closed_by_guest(void) {
  if (memory_guest_is_self()) return true;
  if (!enter_own()) return false;
  bool is_guest = memory_guest_note();
  call_gate_leave();
  return is_guest;
}

static void close_for_all(void) {
  struct kernel_time wait = {0, WAIT_NS};
  if (atomic_fetch_add(&closed, 1) != 0) return; /* already in a sandbox: no wait */
  for (unsigned i = 0; i < WAITS_MAX && atomic_load(&inside) != 0; i++)
    raw_syscall(SYS_nanosleep, (uintptr_t)&wait, 0, 0, 0);
}

bool call_gate_close(bool may_ask) {
  if (may_ask && is_closed_by_guest()) return false;
  close_for_all();
  return true;
}

void call_gate_reopen(void) {
  atomic_fetch_sub(&closed, 1);
}

void call_gate_in_child(void) {
  if (memory_guest_is_self()) atomic_fetch_add(&closed, 1); /* sandboxes are inherited */
  memory_guest_in_child();
  atomic_store(&inside, 0);
}
