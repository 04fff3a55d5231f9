/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of a machine instruction on the registers by which a stack is found, and its control
   flow. This is all that a scan of a function (prologue.h) needs of a CPU. One file for each CPU;
   register numbers are DWARF's. */
#ifndef TABLES_INSTRUCTION_H
#define TABLES_INSTRUCTION_H

#include "unwind/unwind_table.h"

#include "common/span.h"

enum { INSTRUCTION_EFFECTS_MAX = 20, INSTRUCTION_REGISTERS = 32 };

enum effect_kind {
  EFFECT_LOSE,     /* to = something unknown */
  EFFECT_SET,      /* to = value */
  EFFECT_INSERT,   /* the 16 bits of TO from bit BY on = value */
  EFFECT_OR,       /* to = from | value */
  EFFECT_ADD,      /* to = from + value */
  EFFECT_SUM,      /* to = from + by */
  EFFECT_SUBTRACT, /* to = from - by */
  EFFECT_STORE,    /* the word at from + value = to */
  EFFECT_LOAD,     /* to = the word at from + value */
};

struct effect {
  uint8_t kind, to, from, by;
  int64_t value;
};

enum instruction_flow {
  FLOW_ON,
  FLOW_BRANCH, /* to target, or on */
  FLOW_JUMP,   /* to target */
  FLOW_CALL,   /* returns; target 0: unknown */
  FLOW_TABLE,  /* to one of the addresses in the table after it */
  FLOW_AWAY,   /* to the address in a register */
  FLOW_RETURN,
  FLOW_STOP, /* a trap, or no instruction */
};

struct instruction {
  uint8_t bytes; /* at least 1 */
  uint8_t flow;
  uint8_t condition; /* 0: always; else executed only if it holds */
  uint8_t count;     /* of effects */
  bool is_delayed;   /* takes effect after the next instruction */
  uint8_t table_entry_bytes;
  uint32_t coming;  /* a byte for each of the next four instructions: its condition */
  uint64_t target;  /* 0: none */
  uint64_t literal; /* address of a data word in the code that it loads; 0: none */
  struct effect effects[INSTRUCTION_EFFECTS_MAX];
};

struct instruction_cpu {
  uint16_t machine; /* e_machine */
  uint8_t word_bytes;
  uint8_t step; /* every instruction's address and length are multiples of this */
  uint8_t sp;
  uint8_t lr; /* INSTRUCTION_NO_REGISTER: a call pushes the return address */
  uint8_t tracked[UNWIND_TRACKED];
  uint32_t kept_by_calls; /* a bit for each register */
  /* Decodes the instruction at the start of BYTES, at ADDRESS. BYTES is not empty. */
  void (*decode)(struct span bytes, uint64_t address, struct instruction *ret);
};

enum { INSTRUCTION_NO_REGISTER = 0xff };

/* ARM, RISC-V and AArch64 are in little-endian order, as they are with either order of data. */
extern const struct instruction_cpu instruction_arm, instruction_thumb, instruction_mips,
    instruction_mips_big, instruction_riscv, instruction_aarch64, instruction_x86_64;

static inline void instruction_add(struct instruction *instruction, struct effect effect) {
  if (instruction->count < INSTRUCTION_EFFECTS_MAX)
    instruction->effects[instruction->count++] = effect;
}

static inline void instruction_lose(struct instruction *instruction, uint32_t reg) {
  instruction_add(instruction, (struct effect){.kind = EFFECT_LOSE, .to = (uint8_t)reg});
}

/* TO = FROM + VALUE. */
static inline void instruction_move(struct instruction *instruction, uint32_t to, uint32_t from,
                                    int64_t value) {
  instruction_add(instruction, (struct effect){EFFECT_ADD, (uint8_t)to, (uint8_t)from, 0, value});
}

static inline void instruction_set(struct instruction *instruction, uint32_t to, int64_t value) {
  instruction_add(instruction,
                  (struct effect){.kind = EFFECT_SET, .to = (uint8_t)to, .value = value});
}

static inline void instruction_store(struct instruction *instruction, uint32_t reg, uint32_t base,
                                     int64_t offset) {
  instruction_add(instruction,
                  (struct effect){EFFECT_STORE, (uint8_t)reg, (uint8_t)base, 0, offset});
}

static inline void instruction_load(struct instruction *instruction, uint32_t reg, uint32_t base,
                                    int64_t offset) {
  instruction_add(instruction,
                  (struct effect){EFFECT_LOAD, (uint8_t)reg, (uint8_t)base, 0, offset});
}

/* The low BITS of VALUE, sign-extended. */
static inline int64_t instruction_signed(uint64_t value, unsigned bits) {
  uint64_t sign = UINT64_C(1) << (bits - 1);
  return (int64_t)((value & (2 * sign - 1)) ^ sign) - (int64_t)sign;
}

#endif
