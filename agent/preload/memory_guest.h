/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that live in this one's memory until they exec or end: children of vfork. */
#ifndef PRELOAD_MEMORY_GUEST_H
#define PRELOAD_MEMORY_GUEST_H

#include <stdbool.h>

/* Notes the caller, if it is such a process, until it is gone.  True: it is, and noted.  False: it
   is not, or nobody could tell when it goes.  Makes one prctl call, and one more of
   set_tid_address. */
bool memory_guest_note(void);

/* True while somebody who was noted is there.  Signal-safe. */
bool memory_guest_is_any(void);

/* True when the caller was noted.  Signal-safe. */
bool memory_guest_is_self(void);

/* In the child of a fork, which has a copy of the memory for itself. */
void memory_guest_in_child(void);

#endif
