/* SPDX-License-Identifier: Apache-2.0 */
/* How a stack ended. An incomplete stack has a pseudo frame at its root, beyond its outermost real
   one. It is summed, stored and drawn like any other frame. The names of these frames are sent; the
   numbers are sent as indexes of Effort.stacks, and are never reused. */
#ifndef PROTO_STACK_END_H
#define PROTO_STACK_END_H

#define STACK_ENDS(X)                                                                              \
  X(UNTOLD, "not_told", NULL)                                                                      \
  X(COMPLETE, "complete", NULL)            /* where the program or the thread began */             \
  X(TRUNCATED, "truncated", "[truncated]") /* at the end of the copy, or of the room for frames */ \
  X(NO_TABLE, "no_table", "[no table]")    /* at code without information */                       \
  X(BAD, "bad", "[bad stack]")             /* impossible values */                                 \
  X(OTHER, "other_stack", "[other stack]") /* at memory of another stack that may not be read */

enum stack_end {
#define X(end, name, frame) STACK_##end,
  STACK_ENDS(X)
#undef X
      STACK_END_COUNT
};

/* Returns the name of END in answers.  Any thread. */
const char *stack_end_name(enum stack_end end);

/* Returns the pseudo module at the root of a stack with END, or NULL if there is none.
   Any thread. */
const char *stack_end_frame(enum stack_end end);

/* Returns the END of the pseudo module PATH; STACK_UNTOLD for any other.  Any thread. */
enum stack_end stack_end_of(const char *path);

#endif
