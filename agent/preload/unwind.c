/* SPDX-License-Identifier: Apache-2.0 */
/* The frame-pointer walk.  A program built without frame pointers keeps anything in that register,
   so every step is checked before the load: the pair of words must lie between the stack pointer
   and the top of this thread's stack, aligned, and above the frame before.  Strictly rising frames
   end in at most stack size / 16 steps even without the depth limit, so no cycle is possible.

   What lies between sp and the top of the current stack is mapped by definition, which is why no
   probe (a system call, errno, seccomp) is needed and no fault can happen.

   It cannot tell a true caller from a number on the stack that looks like one: the daemon drops
   what points into no module.  Where no frame was walked and the CPU has a link register, that
   comes instead, marked as what it is. */
#include "unwind.h"

#include <stddef.h>

/* Words, as they lie on the stack: the caller's frame pointer, the return address. */
struct frame_pair {
  uintptr_t next, return_address;
};

static bool is_on_stack(uintptr_t sp, const struct unwind_stack *stack) {
  return sp >= stack->low && sp < stack->high;
}

/* The pair of the frame FP, or NULL when it is not wholly in [FLOOR, high) or not aligned. */
static const volatile struct frame_pair *pair_at(uintptr_t fp, uintptr_t floor, uintptr_t high) {
  uintptr_t at = fp + (uintptr_t)arch_frame_offset();
  if (at % sizeof(uintptr_t) != 0 || at < floor || at >= high) return NULL;
  if (high - at < sizeof(struct frame_pair)) return NULL;
  return (const volatile struct frame_pair *)at;
}

static void walk(const struct arch_registers *at, const struct unwind_stack *stack,
                 struct unwind_trace *trace) {
  uintptr_t fp = at->fp;
  uintptr_t floor = at->sp;
  const volatile struct frame_pair *pair;
  while ((pair = pair_at(fp, floor, stack->high)) != NULL) {
    uintptr_t next = pair->next;
    uintptr_t return_address = arch_strip(pair->return_address);
    if (return_address == 0) return;
    if (trace->depth == trace->room) {
      trace->is_truncated = true;
      return;
    }
    trace->pcs[trace->depth++] = return_address;
    floor = (uintptr_t)(pair + 1); /* a caller's frame lies wholly above */
    fp = next;
  }
}

void unwind(const struct arch_registers *at, const struct unwind_stack *stack,
            struct unwind_trace *trace) {
  trace->pcs[0] = at->pc;
  trace->depth = 1;
  trace->is_truncated = false;
  trace->has_lr = false;
  if (is_on_stack(at->sp, stack)) walk(at, stack, trace);
  if (trace->depth == 1 && at->has_lr && trace->room > 1) {
    trace->pcs[trace->depth++] = arch_strip(at->lr);
    trace->has_lr = true;
  }
}

uintptr_t unwind_link(const struct arch_registers *at, const struct unwind_stack *stack) {
  if (at->has_lr) return arch_strip(at->lr);
  if (!is_on_stack(at->sp, stack) || at->sp % sizeof(uintptr_t) != 0 ||
      stack->high - at->sp < sizeof(uintptr_t))
    return 0;
  return *(const volatile uintptr_t *)at->sp;
}
