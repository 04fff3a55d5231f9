/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by ARM's two instruction sets. */
#ifndef TABLES_INSTRUCTION_ARM_H
#define TABLES_INSTRUCTION_ARM_H

#include "instruction.h"

enum { ARM_R0 = 0, ARM_SP = 13, ARM_LR = 14, ARM_PC = 15 };

/* r4 to r11 and sp */
enum { ARM_KEPT_BY_CALLS = 0x0ff0 | 1 << ARM_SP };

/* A load or store of several registers: LIST, a bit each, at FIRST bytes from BASE on; BASE then
   advances by STEP bytes. */
struct arm_block {
  uint32_t list;
  uint8_t base;
  bool is_load;
  int32_t first, step;
};

void instruction_arm_block(struct instruction *in, const struct arm_block *block);

/* The fields that LDM and STM have in both sets, at bits 24 to 20: before, up, -, write back, load.
 */
struct arm_block instruction_arm_block_of(uint32_t word, uint32_t list);

/* A load or store of REG, or of it and the next one, at BASE + OFFSET. IS_AFTER: at BASE, which
   then becomes BASE + OFFSET; IS_BACK: BASE becomes BASE + OFFSET. */
struct arm_access {
  uint8_t reg, base;
  uint8_t second; /* of a pair */
  bool is_load, is_pair, is_after, is_back;
  bool is_word; /* 32 bits each, at a known address */
  int32_t offset;
};

void instruction_arm_access(struct instruction *in, const struct arm_access *access);

/* The bytes at ADDRESS. */
struct arm_code {
  struct span bytes;
  uint64_t address;
};

/* REG = the word at OFFSET, relative to the address of CODE without its lowest two bits. */
void instruction_arm_literal(struct instruction *in, uint32_t reg, const struct arm_code *code,
                             int32_t offset);

/* REG = something unknown; if that is the program counter, control flow is unknown too. */
void instruction_arm_lose(struct instruction *in, uint32_t reg);

/* The program counter becomes REG. */
void instruction_arm_go(struct instruction *in, uint32_t reg);

/* A coprocessor word (bits 27 to 25 are 110 or 111), the same in both sets. */
void instruction_arm_coprocessor(struct instruction *in, uint32_t word);

/* An addition or subtraction of an immediate, or a move of it. */
enum arm_operation { ARM_ADD, ARM_SUBTRACT, ARM_MOVE, ARM_MOVE_NOT, ARM_COMPARE, ARM_OTHER };

/* TO = FROM (operation) VALUE; for a move only VALUE counts. */
void instruction_arm_immediate(struct instruction *in, enum arm_operation operation,
                               struct effect effect);

/* TO = FROM (operation) BY. */
void instruction_arm_registers(struct instruction *in, enum arm_operation operation,
                               struct effect effect);

static inline uint32_t instruction_arm_half(const uint8_t *bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8;
}

#endif
