/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a sample may be taken on a stack at all. */
#ifndef PRELOAD_SIGNAL_ROOM_H
#define PRELOAD_SIGNAL_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* Finds libc's sigaltstack: dlsym is not for signal handlers, from which programs may call it. */
void signal_room_install(void);

/* True when a stack of BYTES holds the kernel's signal frame and the handler. */
bool signal_room_fits(size_t bytes);

/* True when the calling thread has an alternate stack on which a signal would end the program. */
bool signal_room_is_missing(void);

#endif
