/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a program may come to be in a seccomp sandbox, told without a system call. */
#ifndef PRELOAD_SANDBOX_H
#define PRELOAD_SANDBOX_H

#include <link.h>
#include <stdbool.h>

/* Why an object is (not) out of the question. */
enum sandbox_way { SANDBOX_NONE = 0, SANDBOX_BY_CALL = 1, SANDBOX_BY_PLUGIN = 2 };

/* The ways into a sandbox that an object leaves open: one with DYNAMIC at its load address BASE.
   One whose symbols cannot be listed leaves all of them open. */
unsigned sandbox_ways(const ElfW(Dyn) * dynamic, uintptr_t base);

/* True when something that is loaded now, or that the program may load, could enter a sandbox, or
   when it is in one.  At set-up only. */
bool sandbox_is_within_reach(void);

#endif
