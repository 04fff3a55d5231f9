/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the readable range of a stack. No read of a stack other than the thread's own may fault,
   even if other threads unmap memory meanwhile:

   - The page below the stack pointer is mapped if the kernel has put the handler's frame there.
     So that page may be read in any way.
   - Frames that are not yet left must be mapped, because the thread will return to them. Unwind
     information names only words of those frames. So only unwind information leads beyond that
     page. It leads at most to the end of the mapping that the daemon has published, or of the
     alternate stack that the kernel has saved.
   - A frame that was never called has no caller. unwind_walk.c ends before it.

   A published mapping may be gone, or larger than the part that is still mapped. So it only
   shortens a walk, and never justifies a read. */
#include "unwind_stacks.h"

enum { PAGE_BYTES = 4096 }; /* the smallest page size of any CPU */

static bool is_between(uintptr_t at, uintptr_t low, uintptr_t high) {
  return at >= low && at < high;
}

static uintptr_t end_of(const struct unwind_stacks *stacks, uintptr_t sp) {
  if (is_between(sp, stacks->alternate_low, stacks->alternate_high)) return stacks->alternate_high;
  uintptr_t end = unwind_map_stack_end(stacks->map, stacks->serial, stacks->pid, sp);
  return end > sp ? end : sp;
}

void unwind_stacks_find(const struct unwind_stacks *stacks, uintptr_t sp,
                        struct unwind_memory *ret) {
  bool is_own = is_between(sp, stacks->low, stacks->high);
  ret->bytes = (const uint8_t *)sp;
  ret->low = sp;
  ret->high = is_own ? stacks->high : sp;
  ret->is_whole = is_own && stacks->is_whole;
  ret->is_other = !is_own;
  ret->far = is_own ? 0 : end_of(stacks, sp);
  ret->stacks = stacks;
}

void unwind_stacks_begin(const struct unwind_stacks *stacks, uintptr_t sp, const void *context,
                         struct unwind_memory *ret) {
  uintptr_t low = stacks->alternate_low, high = stacks->alternate_high;
  unwind_stacks_find(stacks, sp, ret);
  bool is_touched = !is_between((uintptr_t)context, low, high) || is_between(sp, low, high);
  if (!ret->is_other || !is_touched || sp == 0) return;
  uintptr_t page_end = ((sp - 1) | (PAGE_BYTES - 1)) + 1;
  if (page_end > sp) ret->high = page_end; /* unless it wraps around the end of memory */
}
