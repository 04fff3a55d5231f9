/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions that the agent's wrappers replace. In the shared library the loader finds
   them (next_call_loader.c), in a static program the linker (next_call_linked.c). */
#ifndef PRELOAD_NEXT_CALL_H
#define PRELOAD_NEXT_CALL_H

/* The next function called NAME, or NULL if libc has none. */
void *next_call(const char *name);

/* pthread_atfork, with handlers that are never removed. Returns 0 or -errno. */
int next_call_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void));

#endif
