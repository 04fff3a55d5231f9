/* SPDX-License-Identifier: Apache-2.0 */
/* Which ways through a function's instructions overwrite the link register. */
#ifndef SYMBOL_LR_FLOW_H
#define SYMBOL_LR_FLOW_H

#include "tables/instruction.h"

/* What may have happened to it on the ways that lead to an instruction; bits. */
enum lr_history {
  LR_UNTOUCHED = 1, /* nothing */
  LR_CHANGED = 2,   /* it was overwritten, by a call as a rule */
  LR_RELOADED = 4,  /* it was loaded from memory */
  LR_UNSEEN = 8,    /* no way that is known leads here */
};

enum { LR_FLOW_UNITS_MAX = 1 << 20 }; /* of a CPU's step, in a function */

struct lr_flow {
  const struct instruction_cpu *cpu;
  struct span code;
  uint64_t start; /* address of the code, a multiple of the step */
  uint8_t *units; /* enum lr_history, one a step; the caller's */
  size_t unit_count;
  bool is_wild; /* it jumps to where nobody knows, after the register was overwritten */
};

/* Fills units, of LR_FLOW_UNITS_MAX at most, which are zeros.  Returns false when the function is
   too tangled to tell.  Pure. */
bool lr_flow_run(struct lr_flow *flow);

#endif
