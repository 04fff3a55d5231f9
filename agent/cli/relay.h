/* SPDX-License-Identifier: Apache-2.0 */
/* Relays signals to the program: signals that are sent to fleetprof are meant for it. */
#ifndef CLI_RELAY_H
#define CLI_RELAY_H

#include <sys/types.h>

/* Saves the dispositions and mask, and blocks the signals that will be relayed. */
void relay_begin(void);

/* In the program's process, before exec: restores the state before relay_begin. */
void relay_undo_in_child(void);

/* From now on, relays signals to PROGRAM. */
void relay_to(pid_t program);

/* After the program's end: restores the state before relay_begin. */
void relay_end(void);

#endif
