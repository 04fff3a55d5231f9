/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a program may have come to be in a seccomp sandbox that no wrapped call has begun. */
#ifndef PRELOAD_SANDBOX_H
#define PRELOAD_SANDBOX_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Why an object is (not) out of the question. */
enum sandbox_way { SANDBOX_NONE = 0, SANDBOX_BY_CALL = 1, SANDBOX_BY_PLUGIN = 2 };

/* The ways into a sandbox that an object leaves open: one with DYNAMIC at its load address BASE.
   One whose symbols cannot be listed leaves all of them open. */
unsigned sandbox_ways(const ElfW(Dyn) * dynamic, uintptr_t base);

/* What was loaded at set-up. */
struct sandbox_objects {
  uint64_t count, removed;
  bool has_plugins; /* the program may load more itself */
};

/* At set-up.  False when the program is in a sandbox already. */
bool sandbox_begin(struct sandbox_objects *ret);

/* True when a plug-in that was loaded since START could have entered a sandbox past the gate. Makes
   no system call, but takes the loader's lock where has_plugins: not in the child of a fork. */
bool sandbox_may_have_come(const struct sandbox_objects *start);

#endif
