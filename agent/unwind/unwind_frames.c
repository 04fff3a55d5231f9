/* SPDX-License-Identifier: Apache-2.0 */
/* The frame-pointer walk. In a program built without frame pointers that register holds any value,
   so every step is checked before the load. The pair of words must lie between the stack pointer
   and the top of this thread's stack, aligned, and above the previous frame. Frames rise strictly,
   so the walk ends after at most stack size / 16 steps even without the depth limit, and no cycle
   is possible.

   Memory between sp and the top of the current stack is mapped by definition. So no probe (a system
   call, errno, seccomp) is needed, and no fault can happen.

   A walk ends normally at a zero word, or, as most do, where the first function's caller used that
   register otherwise. The walk has failed if the next pair is within the stack but cannot be a
   frame (unaligned, or not above the previous one). It is then marked as truncated.

   Before a function's push and after its pop the register is still the caller's. The direct caller
   is then missed, and the walk cannot detect this.

   The walk cannot distinguish a true caller from a number on the stack that looks like one. The
   daemon drops addresses outside all modules. If no frame was walked and the CPU has a link
   register, that follows instead, with its own mark. */
#include "unwind_frames.h"

/* As the words lie on the stack: the caller's frame pointer, the return address. */
struct frame_pair {
  uintptr_t next, return_address;
};

/* True if the pair at FP is aligned and lies within [FLOOR, LAST]; LAST is the highest address with
   room for a pair. */
static inline bool is_frame(uintptr_t fp, uintptr_t floor, uintptr_t last) {
  return fp >= floor && fp <= last && fp % sizeof(uintptr_t) == 0;
}

/* Straight-line code with the invariants in registers: this loop is most of the cost of a
   sample. */
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
    floor = fp + sizeof *pair; /* a caller's frame lies entirely above */
    fp = pair->next + (uintptr_t)offset;
  }
  trace->is_truncated = fp - at->sp < stack->high - at->sp; /* sp is below high */
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
