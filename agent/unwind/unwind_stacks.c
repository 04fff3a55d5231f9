/* SPDX-License-Identifier: Apache-2.0 */
/* No read of another stack may fault, whatever other threads unmap meanwhile:

   - The page below the stack pointer is mapped where the kernel has put our own frame there.  So
     that page may be read by any means.
   - Frames that are not yet left must be mapped, because the thread will return to them.  Unwind
     information names only words of such frames.  So it alone leads beyond that page, and only up
     to the end of the mapping that the daemon has published, or of the alternate stack that the
     kernel has saved.
   - A frame that was never called has no caller.  unwind_walk.c ends before it.

   A published mapping may be gone, or be larger than what is left of it.  That is why it only ever
   shortens a walk, and never justifies a read. */
#include "unwind_stacks.h"

enum { PAGE_BYTES = 4096 }; /* the smallest that there are */

static bool is_between(uintptr_t at, uintptr_t low, uintptr_t high) {
  return at >= low && at < high;
}

static uintptr_t end_of(const struct unwind_stacks *stacks, uintptr_t sp) {
  if (is_between(sp, stacks->alternate_low, stacks->alternate_high)) return stacks->alternate_high;
  uintptr_t end = unwind_map_stack_end(stacks->map, stacks->serial, stacks->pid, sp);
  return end > sp ? end : sp;
}

struct unwind_memory unwind_stacks_find(const struct unwind_stacks *stacks, uintptr_t sp) {
  struct unwind_memory ret = {
      .bytes = (const uint8_t *)sp, .low = sp, .high = sp, .near = sp, .stacks = stacks};
  ret.is_other = !is_between(sp, stacks->low, stacks->high);
  ret.is_whole = !ret.is_other && stacks->is_whole;
  ret.high = ret.is_other ? end_of(stacks, sp) : stacks->high;
  return ret;
}

struct unwind_memory unwind_stacks_begin(const struct unwind_stacks *stacks, uintptr_t sp,
                                         const void *context) {
  struct unwind_memory ret = unwind_stacks_find(stacks, sp);
  uintptr_t low = stacks->alternate_low, high = stacks->alternate_high;
  bool is_touched = !is_between((uintptr_t)context, low, high) || is_between(sp, low, high);
  if (!ret.is_other || !is_touched || sp == 0) return ret;
  ret.near = ((sp - 1) | (PAGE_BYTES - 1)) + 1;
  if (ret.near < sp) ret.near = sp; /* around the end of memory */
  if (ret.high < ret.near) ret.high = ret.near;
  return ret;
}
