/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU's own counter, by which the handler is timed at set-up; one file a CPU, chosen by
   CMake. */
#ifndef RING_TICKS_H
#define RING_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this CPU has a counter that user space may read unless it is forbidden.  Signal-safe. */
bool ticks_are_there(void);

/* Its value; 0 where there is none.  A program may forbid itself to read it (PR_SET_TSC, strict
   seccomp): then this is fatal, so the caller must know better.  Signal-safe. */
uint64_t ticks_now(void);

#endif
