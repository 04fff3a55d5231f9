/* SPDX-License-Identifier: Apache-2.0 */
/* Detects whether a program may have entered a seccomp sandbox without a wrapped call. */
#ifndef PRELOAD_SANDBOX_H
#define PRELOAD_SANDBOX_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* The ways past the gate that an object leaves open. */
enum sandbox_way { SANDBOX_NONE = 0, SANDBOX_BY_CALL = 1, SANDBOX_BY_PLUGIN = 2 };

/* The ways into a sandbox that the object with DYNAMIC at load address BASE leaves open. An object
 * without a list of symbols leaves all of them open. */
unsigned sandbox_ways(const ElfW(Dyn) * dynamic, uintptr_t base);

/* The objects loaded at set-up. */
struct sandbox_objects {
  uint64_t count, removed;
  bool has_plugins; /* the program itself may load more */
};

/* At set-up. False if the program is already in a sandbox. */
bool sandbox_begin(struct sandbox_objects *ret);

/* True if a plug-in loaded since START could have entered a sandbox past the gate. Makes no system
   call, but takes the loader's lock if has_plugins: not in the child of a fork. */
bool sandbox_may_have_come(const struct sandbox_objects *start);

#endif
