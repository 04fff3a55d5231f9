/* SPDX-License-Identifier: Apache-2.0 */
/* Names for the ends of stacks. The list is in stack_end.h, once.

   A stack without a pseudo frame at its root is complete if its target's window has MARK_ENDS_TOLD.
   Otherwise its completeness is unknown: a frame-pointer walk ends the same way at a function
   without frame pointers as at the outermost one, and older daemons sent no ends. */
#include "stack_end.h"

#include <stddef.h>
#include <string.h>

static const struct {
  const char *name, *frame;
} ends[STACK_END_COUNT] = {
#define X(end, name, frame) [STACK_##end] = {name, frame},
    STACK_ENDS(X)
#undef X
};

const char *stack_end_name(enum stack_end end) {
  return ends[end].name;
}

const char *stack_end_frame(enum stack_end end) {
  return ends[end].frame;
}

enum stack_end stack_end_of(const char *path) {
  for (unsigned i = 0; path[0] == '[' && i < STACK_END_COUNT; i++)
    if (ends[i].frame != NULL && strcmp(ends[i].frame, path) == 0) return (enum stack_end)i;
  return STACK_UNTOLD;
}
