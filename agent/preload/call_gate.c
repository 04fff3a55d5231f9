/* SPDX-License-Identifier: Apache-2.0 */
/* A program in a seccomp sandbox may be killed for a system call that it did not foresee, and ours
   are nothing that it could.  So whoever makes one goes through this gate, and the program's call
   that begins a sandbox (sandbox_calls.c) closes it first.  The filter may be for all threads at
   once, so the one who closes waits for those inside:

     inside:   raise `inside`, closed?  then lower it and make no call
     closes:   raise `closed`, wait until nobody is inside

   with all of it in one order (seq_cst).  Those inside make a few calls each; one that forks a
   large process takes longer, and is not waited for beyond WAITS_MAX.

   The gate is never opened again once the sandbox is there: the kernel does not open one either.
   What goes on behind a closed gate is the sampling itself, which makes no call.

   The sandbox of a vfork's child is its own, and only the gate is shared: it is closed while the
   child is there (memory_guest.c), and whoever is inside stays outside of that sandbox. */
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

/* Past the guests: who is none of them is in the sandbox of none. */
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
  if (atomic_fetch_add(&closed, 1) != 0) return; /* in a sandbox already: not even a wait */
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
  if (memory_guest_is_self()) atomic_fetch_add(&closed, 1); /* what it was in, its child is in */
  memory_guest_in_child();
  atomic_store(&inside, 0);
}
