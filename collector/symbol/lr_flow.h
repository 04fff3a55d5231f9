/* SPDX-License-Identifier: Apache-2.0 */
/* Determines on which paths through a function the link register is overwritten. */
#ifndef SYMBOL_LR_FLOW_H
#define SYMBOL_LR_FLOW_H

#include "tables/instruction.h"

/* Histories of the register on the paths to an instruction; bits. */
enum lr_history {
  LR_UNTOUCHED = 1, /* nothing happened */
  LR_CHANGED = 2,   /* it was overwritten, usually by a call */
  LR_RELOADED = 4,  /* it was loaded from memory */
  LR_UNSEEN = 8,    /* no known path leads here */
};

enum { LR_FLOW_UNITS_MAX = 1 << 20 }; /* a unit is one step of the CPU; limit for a function */

struct lr_flow {
  const struct instruction_cpu *cpu;
  struct span code;
  uint64_t start; /* address of the code, a multiple of the step */
  uint8_t *units; /* enum lr_history, one for each step; owned by the caller */
  size_t unit_count;
  bool is_wild; /* it jumps to an unknown place after the register was overwritten */
};

/* Fills the units, at most LR_FLOW_UNITS_MAX, which must be zero. Returns false if the control flow
   is too complex. Pure. */
bool lr_flow_run(struct lr_flow *flow);

#endif
