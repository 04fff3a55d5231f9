/* SPDX-License-Identifier: Apache-2.0 */
/* Registers, a stack and tables -> the addresses of the callers.  The same code walks in the
   daemon, over the copy of a stack that the kernel made, and in a target's handler, over the stack
   itself. */
#ifndef UNWIND_UNWIND_WALK_H
#define UNWIND_UNWIND_WALK_H

#include "unwind_arch.h"

struct unwind_registers {
  uintptr_t pc, sp, lr; /* lr: where the CPU has one */
  uintptr_t tracked[UNWIND_TRACKED];
  /* All general registers, laid out as in a signal's frame (unwind_arch.h); NULL: not known. */
  const uint8_t *general;
};

/* The words at addresses [low, high) are at BYTES, aligned or not; in a handler BYTES is low. */
struct unwind_memory {
  const uint8_t *bytes;
  uintptr_t low, high;
  bool is_whole; /* high is the stack's end; else only where the copy ends */
  bool is_other; /* in a handler: not the thread's own stack (unwind_stacks.h) */
  uintptr_t far; /* of another stack: only unwind information leads to words from high to here */
  const struct unwind_stacks *stacks; /* what a signal's frame may lead to; NULL: a copy's reader */
};

/* One executable mapping. */
struct unwind_region {
  uint64_t start, end;
  uint64_t address; /* of start, in the table (table_rows_place) */
  uint64_t table;   /* bytes, a multiple of 8, from unwind_code.tables; UNWIND_NO_TABLE: none */
};

#define UNWIND_NO_TABLE UINT64_MAX

/* What is mapped where. */
struct unwind_code {
  const struct unwind_region *regions; /* by start, disjoint */
  uint32_t count;
  uintptr_t tables, tables_bytes; /* no look leaves them, whatever regions and tables say */
  bool is_partial; /* there may be code in no region: whoever leads there is not bad, but unknown */
};

/* The region of CODE that holds PC; NULL: PC is in no code that is known.  Signal-safe. */
const struct unwind_region *unwind_region_find(const struct unwind_code *code, uintptr_t pc);

/* The rule of REGION's table for PLACE; NULL: REGION is NULL, has no table or no rule there.
   Signal-safe. */
const struct unwind_rule *unwind_rule_find(const struct unwind_code *code,
                                           const struct unwind_region *region, uint64_t place);

/* No call can have pushed the return address PC, in REGION: the function of the byte before it
   begins too shortly before.  Signal-safe. */
bool unwind_is_uncalled(const struct unwind_code *code, const struct unwind_region *region,
                        uintptr_t pc);

/* How a walk ended. */
enum unwind_end {
  UNWIND_COMPLETE = 0, /* where the program or the thread began */
  UNWIND_TRUNCATED,    /* at the end of the copy, or of the room for frames */
  UNWIND_UNKNOWN,      /* at code of which nothing is known */
  UNWIND_BAD,          /* what was found cannot be: the stack is overwritten or a table is wrong */
  UNWIND_OTHER,        /* at memory of another stack that the walk may not read */
  UNWIND_ENDS,
};

struct unwind_path {
  uint64_t *pcs;  /* the caller's, ROOM entries; leaf first; see below */
  unsigned room;  /* at least 1 */
  unsigned depth; /* entries filled; at least 1 */
  enum unwind_end end;
};

/* Fills PATH.  pcs[0] is the interrupted PC.  Of all others a reader takes the address minus one:
   a return address minus one is in the call.  A frame where a signal came, a signal trampoline and
   a function without a caller (the exit function of a coroutine) have no call; there pcs holds
   the address plus one, so that minus one is exact.

   At each frame it takes the rule of the table there; where the table says nothing,
   the pair at the frame pointer; at the first frame (or below a signal's) the link register.  Where
   a rule is known that a table cannot hold the walk ends: the frame pointer may be any ancestor's.
   Every load lies in STACK, whatever the registers and the stack say, and there are at most ROOM
   steps.  Signal-safe. */
void unwind_walk(const struct unwind_registers *at, const struct unwind_memory *stack,
                 const struct unwind_code *code, struct unwind_path *path);

#endif
