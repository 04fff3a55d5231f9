/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the callers' addresses from registers, a stack and tables. The daemon uses this on the
   copy of a stack that the kernel made, and a target's handler on the stack itself. */
#ifndef UNWIND_UNWIND_WALK_H
#define UNWIND_UNWIND_WALK_H

#include "unwind_arch.h"

struct unwind_registers {
  uintptr_t pc, sp, lr; /* lr: if the CPU has one */
  uintptr_t tracked[UNWIND_TRACKED];
  /* All general registers, laid out as in a signal's frame (unwind_arch.h); NULL: unknown. */
  const uint8_t *general;
};

/* The words at addresses [low, high) are at BYTES, aligned or not; in a handler BYTES equals
   low. */
struct unwind_memory {
  const uint8_t *bytes;
  uintptr_t low, high;
  bool is_whole; /* high is the stack's end; else the end of the copy */
  bool is_other; /* in a handler: not the thread's own stack (unwind_stacks.h) */
  uintptr_t far; /* of another stack: from high to here only unwind information may lead to words */
  const struct unwind_stacks *stacks; /* where a signal's frame may lead; NULL: in a copy */
};

/* One executable mapping. */
struct unwind_region {
  uint64_t start, end;
  uint64_t address; /* of start, in the table (table_rows_place) */
  uint64_t table;   /* bytes, a multiple of 8, from unwind_code.tables; UNWIND_NO_TABLE: none */
};

#define UNWIND_NO_TABLE UINT64_MAX

/* The mapped code. */
struct unwind_code {
  const struct unwind_region *regions; /* sorted by start, disjoint */
  uint32_t count;
  uintptr_t tables, tables_bytes; /* look-ups stay within, whatever regions and tables hold */
  bool is_partial; /* code may lie outside all regions: an address there is unknown, not bad */
};

/* The region of CODE that contains PC; NULL if PC is in no known code.  Signal-safe. */
const struct unwind_region *unwind_region_find(const struct unwind_code *code, uintptr_t pc);

/* The rule of REGION's table for PLACE. NULL if REGION is NULL, has no table or no rule there.
   Signal-safe. */
const struct unwind_rule *unwind_rule_find(const struct unwind_code *code,
                                           const struct unwind_region *region, uint64_t place);

/* True if no call can have pushed the return address PC, in REGION, because the function of the
   byte before it begins too shortly before.  Signal-safe. */
bool unwind_is_uncalled(const struct unwind_code *code, const struct unwind_region *region,
                        uintptr_t pc);

/* How a walk ended. */
enum unwind_end {
  UNWIND_COMPLETE = 0, /* at the start of the program or the thread */
  UNWIND_TRUNCATED,    /* at the end of the copy, or of the room for frames */
  UNWIND_UNKNOWN,      /* at unknown code */
  UNWIND_BAD,          /* impossible values: the stack is overwritten or a table is wrong */
  UNWIND_OTHER,        /* at memory of another stack, which the walk may not read */
  UNWIND_ENDS,
};

struct unwind_path {
  uint64_t *pcs;  /* the caller's, ROOM entries; leaf first; see below */
  unsigned room;  /* at least 1 */
  unsigned depth; /* entries filled; at least 1 */
  enum unwind_end end;
};

/* Fills PATH. pcs[0] is the interrupted PC. From all others a reader subtracts one: a return
   address minus one is within the call. An interrupted frame, a signal trampoline and a function
   without a caller (the exit function of a coroutine) have no call. There pcs holds the address
   plus one, so that minus one is exact.

   At each frame the walk uses the rule of the table; if the table has none, the pair at the frame
   pointer; at the first frame (or below a signal's) the link register. If there is a rule that a
   table cannot express, the walk ends, because the frame pointer may be any ancestor's. Every load
   lies in STACK, for any contents of registers and stack, and there are at most ROOM steps.
   Signal-safe. */
void unwind_walk(const struct unwind_registers *at, const struct unwind_memory *stack,
                 const struct unwind_code *code, struct unwind_path *path);

#endif
