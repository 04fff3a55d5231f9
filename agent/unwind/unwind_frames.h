/* SPDX-License-Identifier: Apache-2.0 */
/* Registers and a stack's bounds -> the addresses of the callers, along frame pointers alone: the
   walk of a handler without tables, and what takes a tenth of the time with them. */
#ifndef UNWIND_UNWIND_FRAMES_H
#define UNWIND_UNWIND_FRAMES_H

#include "unwind_walk.h"

/* [low, high): readable from the stack pointer up to high.  0, 0: unknown. */
struct unwind_stack {
  uintptr_t low, high;
  uintptr_t top; /* its end, and readable up to here: above high are frames of libc's, which have no
                    frame pointers to be followed; 0: not known */
};

struct unwind_trace {
  uint64_t *pcs;     /* the caller's, ROOM entries; leaf first */
  unsigned room;     /* at least 1 */
  unsigned depth;    /* entries filled; at least 1 */
  bool is_truncated; /* there were more than ROOM, or a frame pointer led astray */
  bool has_lr;       /* pcs[1] is the link register, not a walked frame */
  bool is_other;     /* the stack pointer is on another stack, of which nothing was read */
};

/* Fills TRACE from the registers AT: the PC, then return addresses along the frame pointers.  No
   load leaves [max(sp, low), high), whatever the registers and the stack say.  A stack pointer
   outside the bounds (an alternate stack, a coroutine) gives the PC alone.  Signal-safe. */
void unwind_frames(const struct unwind_registers *at, const struct unwind_stack *stack,
                   struct unwind_trace *trace);

static inline bool unwind_is_on_stack(uintptr_t sp, const struct unwind_stack *stack) {
  return sp >= stack->low && sp < stack->high;
}

/* The link register; on a CPU without one the word at the stack pointer, which is the return
   address on a function's first instruction and last.  0 where there is neither.  Signal-safe. */
static inline uintptr_t unwind_link(const struct unwind_registers *at,
                                    const struct unwind_stack *stack) {
  if (unwind_arch.has_lr) return at->lr & (uintptr_t)unwind_arch.return_mask;
  if (!unwind_is_on_stack(at->sp, stack) || at->sp % sizeof(uintptr_t) != 0 ||
      stack->high - at->sp < sizeof(uintptr_t))
    return 0;
  return *(const volatile uintptr_t *)at->sp;
}

#endif
