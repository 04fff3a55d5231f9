/* SPDX-License-Identifier: Apache-2.0 */
/* A child of vfork has our memory and the thread pointer of the thread that made it, which stands
   still meanwhile; so what it tells us of itself must not be believed of its parent afterwards.
   Launchers sandbox themselves in such a child before they exec.

   The kernel says who is one: every thread that a libc began has an address that the kernel clears
   at the thread's end, and these children have none.  And it says when one goes: the address that a
   child gives itself is cleared as its exec, or its end, lets the memory go, before the parent runs
   on.  So nothing waits, nobody is asked, and the parent finds a zero.

   A child that has such an address for its own purposes, more of them at once than there are
   places, or a kernel that does not tell (without CONFIG_CHECKPOINT_RESTORE): not noted.  A child
   of a fork that no libc made is taken for one; its memory is its own, and nothing ever clears its
   place there, as it should be.  What starts as clone with our memory and lets its parent run on is
   told from the parent's thread by nothing: the two are taken for one another while it lives. */
#include "memory_guest.h"
#include "arch.h"
#include "raw_syscall.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

enum { GUESTS_MAX = 16, /* at once, each of a thread of its own */ FREE = 0, COMES = 1, HERE = 2 };

static struct {
  _Atomic uint32_t state; /* the kernel makes it FREE */
  uintptr_t thread;       /* valid when HERE */
} guests[GUESTS_MAX];

static bool is_guest(void) {
  uintptr_t cleared = 1;
  return raw_syscall(SYS_prctl, PR_GET_TID_ADDRESS, (uintptr_t)&cleared, 0, 0) == 0 && cleared == 0;
}

static bool take_place(unsigned i) {
  uint32_t nobody = FREE;
  if (!atomic_compare_exchange_strong(&guests[i].state, &nobody, COMES)) return false;
  guests[i].thread = arch_thread_pointer();
  raw_syscall(SYS_set_tid_address, (uintptr_t)&guests[i].state, 0, 0, 0);
  atomic_store(&guests[i].state, HERE);
  return true;
}

bool memory_guest_note(void) {
  if (!is_guest()) return false;
  for (unsigned i = 0; i < GUESTS_MAX; i++)
    if (take_place(i)) return true;
  return false;
}

bool memory_guest_is_any(void) {
  for (unsigned i = 0; i < GUESTS_MAX; i++)
    if (atomic_load(&guests[i].state) != FREE) return true;
  return false;
}

bool memory_guest_is_self(void) {
  uintptr_t self = arch_thread_pointer();
  for (unsigned i = 0; i < GUESTS_MAX; i++)
    if (atomic_load(&guests[i].state) == HERE && guests[i].thread == self) return true;
  return false;
}

void memory_guest_in_child(void) {
  for (unsigned i = 0; i < GUESTS_MAX; i++) atomic_store(&guests[i].state, FREE);
}
