/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the part of a stack that a handler may read: the thread's own, its alternate signal
   stack, or a stack that the program made itself (a coroutine's). */
#ifndef UNWIND_UNWIND_STACKS_H
#define UNWIND_UNWIND_STACKS_H

#include "unwind_map.h"

/* Of one interrupted thread. */
struct unwind_stacks {
  uintptr_t low, high;                     /* its own stack; equal: unknown */
  bool is_whole;                           /* high is the stack's end */
  uintptr_t alternate_low, alternate_high; /* as saved by the kernel; equal: none */
  const struct unwind_map *map;            /* for the stacks that the daemon has published */
  uint32_t serial, pid;
};

/* The stack on which the thread was interrupted, at SP. CONTEXT is the address at which the kernel
   saved the registers. RET borrows STACKS.  Signal-safe. */
void unwind_stacks_begin(const struct unwind_stacks *stacks, uintptr_t sp, const void *context,
                         struct unwind_memory *ret);

/* The stack that contains SP, which was found in a signal's frame. RET borrows STACKS.
   Signal-safe. */
void unwind_stacks_find(const struct unwind_stacks *stacks, uintptr_t sp,
                        struct unwind_memory *ret);

#endif
