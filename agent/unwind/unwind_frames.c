/* SPDX-License-Identifier: Apache-2.0 */
/* The frame-pointer walk.  A program built without frame pointers keeps anything in that register,
   so every step is checked before the load: the pair of words must lie between the stack pointer
   and the top of this thread's stack, aligned, and above the frame before.  Strictly rising frames
   end in at most stack size / 16 steps even without the depth limit, so no cycle is possible.

   What lies between sp and the top of the current stack is mapped by definition, which is why no
   probe (a system call, errno, seccomp) is needed and no fault can happen.

   A walk ends in order at a word that is 0, or, as most do, where the first function's caller had
   anything else in that register.  One that ends at a place within the stack which cannot be a
   frame (odd, or not above the one before: a circle) was led astray and is marked as cut.

   Before a function's push and after its pop, where the register is still the caller's, the direct
   caller is missed, and nothing here can tell.

   It cannot tell a true caller from a number on the stack that looks like one: the daemon drops
   what points into no module.  Where no frame was walked and the CPU has a link register, that
   comes instead, marked as what it is. */
#include "unwind_frames.h"

/* Words, as they lie on the stack: the caller's frame pointer, the return address. */
struct frame_pair {
  uintptr_t next, return_address;
};

/* The pair at FP lies within [FLOOR, LAST], where LAST is the highest place it has room at, and is
   aligned. */
static inline bool is_frame(uintptr_t fp, uintptr_t floor, uintptr_t last) {
  return fp >= floor && fp <= last && fp % sizeof(uintptr_t) == 0;
}

/* Straight-line, and what does not change is in registers: this loop is most of what a sample
   costs. */
static void walk(const struct unwind_registers *at, const struct unwind_stack *stack,
                 struct unwind_trace *trace) {
  const uintptr_t mask = (uintptr_t)unwind_arch.return_mask;
  const intptr_t offset = unwind_arch.pair_offset;
  uintptr_t fp = at->tracked[0] + (uintptr_t)offset, floor = at->sp;
  uintptr_t last = stack->high - sizeof(struct frame_pair);
  uint64_t *pc = trace->pcs + 1, *end = trace->pcs + trace->room;
  if (stack->high < sizeof(struct frame_pair)) return;
  while (is_frame(fp, floor, last)) {
    const volatile struct frame_pair *pair = (const volatile struct frame_pair *)fp;
    uintptr_t return_address = pair->return_address & mask;
    if (return_address == 0) {
      fp = 0;
      break;
    }
    if (pc == end) break;
    *pc++ = return_address;
    floor = fp + sizeof *pair; /* a caller's frame lies wholly above */
    fp = pair->next + (uintptr_t)offset;
  }
  trace->is_truncated = fp - at->sp < stack->high - at->sp; /* sp lies below high */
  trace->depth = (unsigned)(pc - trace->pcs);
}

void unwind_frames(const struct unwind_registers *at, const struct unwind_stack *stack,
                   struct unwind_trace *trace) {
  trace->pcs[0] = at->pc;
  trace->depth = 1;
  trace->is_truncated = false;
  trace->has_lr = false;
  trace->is_other = !unwind_is_on_stack(at->sp, stack);
  if (unwind_arch.has_frame_pairs && !trace->is_other) walk(at, stack, trace);
  if (trace->depth == 1 && unwind_arch.has_lr && trace->room > 1) {
    trace->pcs[trace->depth++] = at->lr & (uintptr_t)unwind_arch.return_mask;
    trace->has_lr = true;
  }
}
