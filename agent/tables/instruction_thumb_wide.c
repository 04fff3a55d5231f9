/* SPDX-License-Identifier: Apache-2.0 */
/* The 32-bit instructions of Thumb-2. A word here is the first half, then the second: the order of
   the manual, not of memory. */
#include "instruction_thumb.h"

static enum arm_operation operation_of(uint32_t word) {
  bool has_from = (word >> 16 & 15) != ARM_PC, is_tested = (word >> 8 & 15) == ARM_PC;
  switch (word >> 21 & 15) {
  case 0:
  case 4:
    return is_tested ? ARM_COMPARE : ARM_OTHER;
  case 2:
    return has_from ? ARM_OTHER : ARM_MOVE;
  case 3:
    return has_from ? ARM_OTHER : ARM_MOVE_NOT;
  case 8:
    return is_tested ? ARM_COMPARE : ARM_ADD;
  case 13:
    return is_tested ? ARM_COMPARE : ARM_SUBTRACT;
  default:
    return ARM_OTHER;
  }
}

static uint32_t expanded(uint32_t field) {
  uint32_t byte = field & 0xff;
  switch (field >> 8) {
  case 0:
    return byte;
  case 1:
    return byte << 16 | byte;
  case 2:
    return byte << 24 | byte << 8;
  case 3:
    return byte << 24 | byte << 16 | byte << 8 | byte;
  default: {
    uint32_t by = field >> 7, value = (field & 0x7f) | 0x80;
    return value >> by | value << (32 - by);
  }
  }
}

/* Twelve bits: 26, 14 to 12, 7 to 0. */
static uint32_t immediate_of(uint32_t word) {
  return (word >> 15 & 0x800) | (word >> 4 & 0x700) | (word & 0xff);
}

static void decode_immediate(struct instruction *in, uint32_t word) {
  struct effect effect = {.to = word >> 8 & 15, .from = word >> 16 & 15};
  effect.value = expanded(immediate_of(word));
  instruction_arm_immediate(in, operation_of(word), effect);
}

/* Immediates without a pattern: ADDW, SUBW, MOVW, MOVT and bit fields. */
static void decode_plain(struct instruction *in, uint32_t word) {
  uint8_t to = word >> 8 & 15, from = word >> 16 & 15;
  int64_t value = immediate_of(word), wide = (int64_t)(word >> 4 & 0xf000) | value;
  struct effect effect = {.to = to, .from = from, .value = value};
  switch (word >> 20 & 31) {
  case 0:
    instruction_arm_immediate(in, ARM_ADD, effect);
    break;
  case 10:
    instruction_arm_immediate(in, ARM_SUBTRACT, effect);
    break;
  case 4:
    instruction_set(in, to, wide);
    break;
  case 12:
    instruction_add(in, (struct effect){EFFECT_INSERT, to, to, 16, wide});
    break;
  default:
    instruction_arm_lose(in, to);
  }
}

static void decode_registers(struct instruction *in, uint32_t word) {
  enum arm_operation operation = operation_of(word);
  bool is_shifted = (word & 0x70f0) != 0;
  if (is_shifted && operation != ARM_COMPARE) operation = ARM_OTHER;
  instruction_arm_registers(
      in, operation,
      (struct effect){.to = word >> 8 & 15, .from = word >> 16 & 15, .by = word & 15});
}

/* Pairs, exclusive ones, and jumps by a table. */
static void decode_dual(struct instruction *in, uint32_t word) {
  uint32_t low = word >> 12 & 15, second = word >> 8 & 15;
  bool is_load = word >> 20 & 1, is_before = word >> 24 & 1, is_back = word >> 21 & 1;
  int32_t offset = (int32_t)(word & 0xff) * 4;
  struct arm_access access = {.reg = (uint8_t)low,
                              .base = word >> 16 & 15,
                              .second = (uint8_t)second,
                              .is_load = is_load,
                              .is_pair = true,
                              .is_after = !is_before,
                              .is_back = is_back,
                              .is_word = true,
                              .offset = word >> 23 & 1 ? offset : -offset};
  if ((word & 0xfff0ffe0) == 0xe8d0f000) {
    in->flow = FLOW_TABLE;
    in->table_entry_bytes = word & 16 ? 2 : 1;
  } else if (!is_before && !is_back) {
    bool is_sized = word >> 23 & 1;
    if (is_load) instruction_arm_lose(in, low);
    if (is_load && is_sized && second != ARM_PC) instruction_lose(in, second);
    if (!is_load) instruction_arm_lose(in, is_sized ? word & 15 : second);
  } else if (access.base != ARM_PC) {
    instruction_arm_access(in, &access);
  } else if (is_load) {
    instruction_arm_lose(in, low);
    instruction_arm_lose(in, second);
  }
}

static void decode_blocks(struct instruction *in, uint32_t word) {
  uint32_t mode = word >> 23 & 3;
  if (word >> 22 & 1) {
    decode_dual(in, word);
  } else if (mode == 1 || mode == 2) {
    struct arm_block block = instruction_arm_block_of(word, word & 0xffff);
    instruction_arm_block(in, &block);
  }
}

/* 11111 00: a load or store of one register. */
static void decode_access(struct instruction *in, uint32_t word, const struct arm_code *code) {
  uint8_t reg = word >> 12 & 15, base = word >> 16 & 15;
  bool is_load = word >> 20 & 1, is_word = (word >> 21 & 3) == 2;
  bool is_long = word >> 23 & 1, is_short = word >> 11 & 1;
  int32_t offset = (int32_t)(word & (is_long || base == ARM_PC ? 0xfff : 0xff));
  if (is_load && !is_word && reg == ARM_PC) return; /* a cache hint */
  if (base == ARM_PC) {
    if (is_load && is_word)
      instruction_arm_literal(in, reg, code, is_long ? 4 + offset : 4 - offset);
    if (is_load && !is_word) instruction_lose(in, reg);
    return;
  }
  struct arm_access access = {.reg = reg, .base = base, .is_load = is_load, .offset = offset};
  access.is_word = is_word && (is_long || is_short);
  if (!is_long && is_short) {
    access.is_after = (word >> 10 & 1) == 0;
    access.is_back = word >> 8 & 1;
    access.offset = word >> 9 & 1 ? offset : -offset;
  }
  instruction_arm_access(in, &access);
}

static void decode_data(struct instruction *in, uint32_t word) {
  uint32_t to = word >> 8 & 15, low = word >> 12 & 15;
  bool is_long = (word & 0xff800000) == 0xfb800000;
  if (to != ARM_PC) instruction_lose(in, to);
  if (is_long && low != ARM_PC) instruction_lose(in, low);
}

/* Bits 26, 13 and 11 are the top of the distance; in a long branch the latter two are inverted if
   the first is clear. */
static int64_t distance(uint32_t word) {
  uint64_t sign = word >> 26 & 1, j1 = word >> 13 & 1, j2 = word >> 11 & 1;
  uint64_t low = (word >> 4 & 0x3ff000) | (word << 1 & 0xffe);
  return instruction_signed(sign << 24 | (j1 ^ sign ^ 1) << 23 | (j2 ^ sign ^ 1) << 22 | low, 25);
}

static int64_t short_distance(uint32_t word) {
  uint64_t sign = word >> 26 & 1, j1 = word >> 13 & 1, j2 = word >> 11 & 1;
  uint64_t low = (word >> 4 & 0x3f000) | (word << 1 & 0xffe);
  return instruction_signed(sign << 20 | j2 << 19 | j1 << 18 | low, 21);
}

static void decode_branch(struct instruction *in, uint32_t word, uint64_t address) {
  uint64_t pc = address + 4;
  if ((word & 0xd000) == 0xd000 || (word & 0xd001) == 0xc000) {
    bool is_to_arm = (word & 0x1000) == 0;
    in->flow = FLOW_CALL;
    in->target = ((is_to_arm ? pc & ~UINT64_C(3) : pc) + (uint64_t)distance(word)) | !is_to_arm;
  } else if ((word & 0xd000) == 0x9000) {
    in->flow = FLOW_JUMP;
    in->target = pc + (uint64_t)distance(word);
  } else if ((word & 0x03800000) != 0x03800000) {
    in->flow = FLOW_BRANCH;
    in->target = pc + (uint64_t)short_distance(word);
  } else if ((word & 0xfff0f000) == 0xf7f0a000) {
    in->flow = FLOW_STOP;
  } else if ((word & 0xffe00000) == 0xf3e00000) {
    instruction_arm_lose(in, word >> 8 & 15); /* reads of a status register */
  }
}

/* Its base is written back unless the index is the PC. */
static void decode_vector_access(struct instruction *in, uint32_t word) {
  if ((word & 15) != ARM_PC) instruction_arm_lose(in, word >> 16 & 15);
}

void instruction_thumb_wide(struct instruction *in, uint32_t word, const struct arm_code *code) {
  if ((word & 0xec000000) == 0xec000000)
    instruction_arm_coprocessor(in, word);
  else if ((word & 0xfe000000) == 0xe8000000)
    decode_blocks(in, word);
  else if ((word & 0xfe000000) == 0xea000000)
    decode_registers(in, word);
  else if ((word & 0xf8008000) == 0xf0008000)
    decode_branch(in, word, code->address);
  else if ((word & 0xfa008000) == 0xf0000000)
    decode_immediate(in, word);
  else if ((word & 0xfa008000) == 0xf2000000)
    decode_plain(in, word);
  else if ((word & 0xff100000) == 0xf9000000)
    decode_vector_access(in, word);
  else if ((word & 0xfe000000) == 0xf8000000)
    decode_access(in, word, code);
  else
    decode_data(in, word);
}
