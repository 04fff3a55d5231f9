/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the registers and of the frame before an instruction, and what an instruction
   makes of it. */
#ifndef TABLES_PROLOGUE_STATE_H
#define TABLES_PROLOGUE_STATE_H

#include "instruction.h"

enum prologue_kind {
  PROLOGUE_UNKNOWN = 0,
  PROLOGUE_INITIAL, /* what register OFFSET had at the function's start */
  PROLOGUE_NUMBER,  /* OFFSET itself */
  PROLOGUE_FRAME,   /* the canonical frame address + OFFSET */
};

struct prologue_value {
  int64_t offset;
  uint64_t kind; /* enum prologue_kind */
};

#define PROLOGUE_NOT_SAVED INT64_MIN

/* What is known before an instruction. */
struct prologue_state {
  struct prologue_value registers[INSTRUCTION_REGISTERS];
  int64_t saved_lr; /* from the canonical frame address; PROLOGUE_NOT_SAVED */
  int64_t saved[UNWIND_TRACKED];
  uint64_t is_root; /* nobody called: it calls, and has not kept the way back */
};

/* What a caller leaves. */
void prologue_state_enter(const struct instruction_cpu *cpu, struct prologue_state *ret);

void prologue_state_step(const struct instruction_cpu *cpu, struct prologue_state *state,
                         const struct instruction *instruction);

/* What a call leaves. */
void prologue_state_call(const struct instruction_cpu *cpu, struct prologue_state *state);

/* Keeps of STATE what OTHER says, too. */
void prologue_state_agree(struct prologue_state *state, const struct prologue_state *other);

/* The way back is in the link register alone, which a call overwrites. */
bool prologue_state_would_lose(const struct instruction_cpu *cpu,
                               const struct prologue_state *state);

/* The stack pointer is where it was at the function's start. */
bool prologue_state_is_bare(const struct instruction_cpu *cpu, const struct prologue_state *state);

/* The rule for where STATE is known. */
struct unwind_rule prologue_state_rule(const struct instruction_cpu *cpu,
                                       const struct prologue_state *state);

#endif
