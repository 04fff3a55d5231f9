/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the registers and the frame before an instruction, and the effect of an instruction
   on it. */
#ifndef TABLES_PROLOGUE_STATE_H
#define TABLES_PROLOGUE_STATE_H

#include "instruction.h"

enum prologue_kind {
  PROLOGUE_UNKNOWN = 0,
  PROLOGUE_INITIAL, /* register OFFSET's value at the function's start */
  PROLOGUE_NUMBER,  /* OFFSET itself */
  PROLOGUE_FRAME,   /* the canonical frame address + OFFSET */
};

struct prologue_value {
  int64_t offset;
  uint64_t kind; /* enum prologue_kind */
};

#define PROLOGUE_NOT_SAVED INT64_MIN

/* The state before an instruction. */
struct prologue_state {
  struct prologue_value registers[INSTRUCTION_REGISTERS];
  int64_t saved_lr; /* from the canonical frame address, or PROLOGUE_NOT_SAVED */
  int64_t saved[UNWIND_TRACKED];
  uint64_t is_root; /* no caller: it calls, and has not saved the return address */
};

/* The state at a function's entry. */
void prologue_state_enter(const struct instruction_cpu *cpu, struct prologue_state *ret);

void prologue_state_step(const struct instruction_cpu *cpu, struct prologue_state *state,
                         const struct instruction *instruction);

/* The effect of a call. */
void prologue_state_call(const struct instruction_cpu *cpu, struct prologue_state *state);

/* Keeps the parts of STATE that agree with OTHER. */
void prologue_state_agree(struct prologue_state *state, const struct prologue_state *other);

/* True if the return address is only in the link register, which a call overwrites. */
bool prologue_state_would_lose(const struct instruction_cpu *cpu,
                               const struct prologue_state *state);

/* True if the stack pointer is as at the function's start. */
bool prologue_state_is_bare(const struct instruction_cpu *cpu, const struct prologue_state *state);

/* The rule for STATE. */
struct unwind_rule prologue_state_rule(const struct instruction_cpu *cpu,
                                       const struct prologue_state *state);

#endif
