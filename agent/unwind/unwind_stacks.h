/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory a handler may read of a stack: the thread's own, its alternate signal stack, or a
   stack that the program made itself (a coroutine's). */
#ifndef UNWIND_UNWIND_STACKS_H
#define UNWIND_UNWIND_STACKS_H

#include "unwind_map.h"

/* Of one interrupted thread. */
struct unwind_stacks {
  uintptr_t low, high; /* its own stack; equal: not known */
  bool is_whole;       /* high is the end of it */
  uintptr_t alternate_low, alternate_high; /* as the kernel saved it; equal: there is none */
  const struct unwind_map *map;            /* for the stacks that the daemon has published */
  uint32_t serial, pid;
};

/* The stack that the thread was interrupted on, at SP.  CONTEXT is where the kernel saved the
   registers.  RET borrows STACKS.  Signal-safe. */
void unwind_stacks_begin(const struct unwind_stacks *stacks, uintptr_t sp, const void *context,
                         struct unwind_memory *ret);

/* The stack that SP, found in a signal's frame, is on.  RET borrows STACKS.  Signal-safe. */
void unwind_stacks_find(const struct unwind_stacks *stacks, uintptr_t sp,
                        struct unwind_memory *ret);

#endif
