/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the agent may make system calls in this process. All functions are signal-safe. */
#ifndef PRELOAD_CALL_GATE_H
#define PRELOAD_CALL_GATE_H

#include <stdbool.h>

/* True: calls may be made until call_gate_leave. May be nested. False: no call may be made. */
bool call_gate_enter(void);
void call_gate_leave(void);

/* The calling thread is about to enter a sandbox, perhaps with all other threads. Returns when no
   call of the agent is in progress, or after 0.2 s. True: the close is counted, and
   call_gate_reopen undoes it if the sandbox was not created. False: the caller is a vfork child,
   and the gate stays closed until the child is gone. Detected only if MAY_ASK, because it needs a
   prctl call. */
bool call_gate_close(bool may_ask);
void call_gate_reopen(void);

/* For the child of a fork, which has one thread, and that thread is not inside. */
void call_gate_in_child(void);

#endif
