/* SPDX-License-Identifier: Apache-2.0 */
/* Whether we may make system calls of our own in this process.  All of it is signal-safe. */
#ifndef PRELOAD_CALL_GATE_H
#define PRELOAD_CALL_GATE_H

#include <stdbool.h>

/* True: calls may be made until call_gate_leave.  May be nested.  False: none at all. */
bool call_gate_enter(void);
void call_gate_leave(void);

/* The calling thread is about to enter a sandbox, maybe with all others: returns when no call of
   ours is under way, or after a fifth of a second.  True: this close is counted, and reopen takes
   one back: the sandbox did not come to be.  False: the caller is a vfork's child, and the gate is
   closed until it is gone; told only where MAY_ASK: prctl is called for it. */
bool call_gate_close(bool may_ask);
void call_gate_reopen(void);

/* In the child of a fork, which has one thread, that is not inside. */
void call_gate_in_child(void);

#endif
