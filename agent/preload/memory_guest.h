/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks vfork children: processes that share this one's memory until they exec or exit. */
#ifndef PRELOAD_MEMORY_GUEST_H
#define PRELOAD_MEMORY_GUEST_H

#include <stdbool.h>

/* Notes the caller, if it is a vfork child, until it is gone. True if noted. False if it is none,
   or if its end cannot be detected. Makes one prctl call, and one set_tid_address call. */
bool memory_guest_note(void);

/* True while a noted process exists.  Signal-safe. */
bool memory_guest_is_any(void);

/* True if the caller is noted.  Signal-safe. */
bool memory_guest_is_self(void);

/* For the child of a fork, which has its own copy of the memory. */
void memory_guest_in_child(void);

#endif
