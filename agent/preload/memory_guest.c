/* SPDX-License-Identifier: Apache-2.0 */
/* Detects vfork children. Such a child has this process's memory and the thread pointer of its
   parent's thread, which is suspended meanwhile. So state that the child sets for itself must not
   apply to its parent afterwards. Launchers sandbox themselves in a vfork child before they exec.

   The kernel identifies them: every thread that a libc starts has an address that the kernel clears
   at the thread's end, and vfork children have none. The kernel also signals their end: the address
   that a child sets for itself is cleared when its exec or exit releases the memory, before the
   parent resumes. So nothing waits, no process is queried, and the parent finds a zero.

   Not noted: a child that has such an address for its own purposes, more than GUESTS_MAX at once,
   or children on a kernel without CONFIG_CHECKPOINT_RESTORE. A child of a fork that bypassed libc
   is taken for a vfork child. Its memory is its own, and its place there is never cleared, as it
   should be. A raw clone that shares memory but lets its parent run cannot be distinguished from
   the parent's thread; the two are confused while it lives. */
#include "memory_guest.h"
#include "arch.h"
#include "raw_syscall.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

enum { GUESTS_MAX = 16, /* at once, each of a different thread */ FREE = 0, COMES = 1, HERE = 2 };

static struct {
  _Atomic uint32_t state; /* the kernel resets it to FREE */
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
