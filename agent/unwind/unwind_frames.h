/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the callers' addresses from registers and a stack's bounds, by frame pointers alone. The
   handler uses this without tables; it takes a tenth of the time of a walk with tables. */
#ifndef UNWIND_UNWIND_FRAMES_H
#define UNWIND_UNWIND_FRAMES_H

#include "unwind_walk.h"

/* [low, high): readable from the stack pointer up to high. 0, 0: unknown. */
struct unwind_stack {
  uintptr_t low, high;
  uintptr_t top; /* the stack's end, readable up to here; libc's frames above high have no frame
                    pointers; 0: unknown */
};

struct unwind_trace {
  uint64_t *pcs;     /* the caller's, ROOM entries; leaf first */
  unsigned room;     /* at least 1 */
  unsigned depth;    /* entries filled; at least 1 */
  bool is_truncated; /* more than ROOM frames, or an invalid frame pointer */
  bool has_lr;       /* pcs[1] is the link register, not a walked frame */
  bool is_other;     /* the stack pointer is on another stack, which was not read */
};

/* Fills TRACE from the registers AT: the PC, then return addresses along the frame pointers. Every
   load stays within [max(sp, low), high), for any contents of registers and stack. A stack pointer
   outside the bounds (an alternate stack, a coroutine) yields only the PC.  Signal-safe. */
void unwind_frames(const struct unwind_registers *at, const struct unwind_stack *stack,
                   struct unwind_trace *trace);

static inline bool unwind_is_on_stack(uintptr_t sp, const struct unwind_stack *stack) {
  return sp >= stack->low && sp < stack->high;
}

/* The link register. On a CPU without one, the word at the stack pointer, which is the return
   address on a function's first and last instruction. 0 if there is neither.  Signal-safe. */
static inline uintptr_t unwind_link(const struct unwind_registers *at,
                                    const struct unwind_stack *stack) {
  if (unwind_arch.has_lr) return at->lr & (uintptr_t)unwind_arch.return_mask;
  if (!unwind_is_on_stack(at->sp, stack) || at->sp % sizeof(uintptr_t) != 0 ||
      stack->high - at->sp < sizeof(uintptr_t))
    return 0;
  return *(const volatile uintptr_t *)at->sp;
}

#endif
