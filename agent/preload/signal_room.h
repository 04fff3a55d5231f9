/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a stack has room for a sample. */
#ifndef PRELOAD_SIGNAL_ROOM_H
#define PRELOAD_SIGNAL_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* Finds libc's sigaltstack beforehand: programs may call it from signal handlers, where dlsym is
   not allowed. */
void signal_room_install(void);

/* True if a stack of BYTES holds the handler and the frame that the kernel pushes for a signal of
   the calling thread. Makes a system call if that depends on the process's permissions. */
bool signal_room_fits(size_t bytes);

/* The kernel has permitted this process CPU state that enlarges frames. If a sampled stack could be
   too small for them, the process leaves sampling. */
void signal_room_note_permission(void);

/* True if the calling thread has an alternate stack on which a signal would end the program. */
bool signal_room_is_missing(void);

#endif
