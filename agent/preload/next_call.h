/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that ours stand before.  Where the agent is a library of its own the loader knows
   them (next_call_loader.c), in a static program the linker did (next_call_linked.c). */
#ifndef PRELOAD_NEXT_CALL_H
#define PRELOAD_NEXT_CALL_H

/* The next function called NAME, or NULL where libc has none. */
void *next_call(const char *name);

/* pthread_atfork, whose handlers stay for ever.  Returns 0 or -errno. */
int next_call_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void));

#endif
