/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU's own counter, with which the handler is timed at set-up. One file for each CPU, chosen
   by CMake. */
#ifndef RING_TICKS_H
#define RING_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* True if this CPU has a counter that user space may read unless it is forbidden.  Signal-safe. */
bool ticks_are_there(void);

/* The counter's value; 0 without one. A program may forbid itself to read it (PR_SET_TSC, strict
   seccomp). The read is then fatal, so the caller must make sure beforehand.  Signal-safe. */
uint64_t ticks_now(void);

#endif
