/* SPDX-License-Identifier: Apache-2.0 */
/* Signals while a program runs under us: what is sent to us is meant for it. */
#ifndef CLI_RELAY_H
#define CLI_RELAY_H

#include <sys/types.h>

/* Keeps the dispositions and mask as they are, and holds back the signals that will be relayed. */
void relay_begin(void);

/* In the program's process, before exec: everything as relay_begin found it. */
void relay_undo_in_child(void);

/* From here on what is sent to us goes to PROGRAM. */
void relay_to(pid_t program);

/* The program has ended: everything as relay_begin found it. */
void relay_end(void);

#endif
