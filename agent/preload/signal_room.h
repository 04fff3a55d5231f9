/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a sample may be taken on a stack at all. */
#ifndef PRELOAD_SIGNAL_ROOM_H
#define PRELOAD_SIGNAL_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* Finds libc's sigaltstack: dlsym is not for signal handlers, from which programs may call it. */
void signal_room_install(void);

/* True when a stack of BYTES holds the frame that the kernel pushes for a signal of the calling
   thread, and the handler.  Makes a system call where that depends on what the process may use. */
bool signal_room_fits(size_t bytes);

/* The kernel has permitted this process CPU state that makes frames larger: where a stack that is
   sampled could be too small for them, the process leaves sampling. */
void signal_room_note_permission(void);

/* True when the calling thread has an alternate stack on which a signal would end the program. */
bool signal_room_is_missing(void);

#endif
