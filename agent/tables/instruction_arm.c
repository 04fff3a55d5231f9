/* SPDX-License-Identifier: Apache-2.0 */
/* ARM's instruction set of 32-bit words (A32). The upper four bits are the condition: 14 is always;
   15 is another set of instructions, of which only branches to Thumb matter. */
#include "instruction_arm.h"

#include <elf.h>

enum { ALWAYS = 14, OTHER_SET = 15 };

static uint32_t rotated(uint32_t word) {
  uint32_t by = 2 * (word >> 8 & 15), value = word & 0xff;
  return by == 0 ? value : value >> by | value << (32 - by);
}

/* Of bits 24 to 21. */
static enum arm_operation operation_of(uint32_t word) {
  switch (word >> 21 & 15) {
  case 2:
    return ARM_SUBTRACT;
  case 4:
    return ARM_ADD;
  case 8:
  case 9:
  case 10:
  case 11:
    return ARM_COMPARE;
  case 13:
    return ARM_MOVE;
  case 15:
    return ARM_MOVE_NOT;
  default:
    return ARM_OTHER;
  }
}

static void decode_immediate(struct instruction *in, uint32_t word) {
  uint8_t to = word >> 12 & 15, from = word >> 16 & 15;
  int64_t wide = (word >> 4 & 0xf000) | (word & 0xfff);
  if ((word & 0x0ff00000) == 0x03000000)
    instruction_set(in, to, wide);
  else if ((word & 0x0ff00000) == 0x03400000)
    instruction_add(in, (struct effect){EFFECT_INSERT, to, to, 16, wide});
  else if ((word & 0x0f900000) != 0x03000000)
    instruction_arm_immediate(in, operation_of(word),
                              (struct effect){.to = to, .from = from, .value = rotated(word)});
}

static void decode_multiplication(struct instruction *in, uint32_t word) {
  bool is_long = (word & 0x0f800000) == 0x00800000, is_exclusive = word >> 24 & 1;
  if (!is_exclusive) instruction_lose(in, word >> 16 & 15);
  if (is_exclusive || is_long) instruction_lose(in, word >> 12 & 15);
}

/* Loads and stores of halfwords, signed ones and pairs: bits 7 and 4 are set, 6 and 5 not both
   clear. */
static void decode_extra(struct instruction *in, uint32_t word) {
  bool is_immediate = word >> 22 & 1, is_load = word >> 20 & 1, is_up = word >> 23 & 1;
  bool is_pair = !is_load && word >> 6 & 1;
  int32_t offset = is_immediate ? (int32_t)((word >> 4 & 0xf0) | (word & 15)) : 0;
  struct arm_access access = {.reg = word >> 12 & 15,
                              .base = word >> 16 & 15,
                              .is_load = is_load || (is_pair && (word >> 5 & 1) == 0),
                              .second = (uint8_t)((word >> 12 & 14) + 1),
                              .is_pair = is_pair,
                              .is_word = is_pair && is_immediate,
                              .is_after = is_immediate && (word >> 24 & 1) == 0,
                              .is_back = is_immediate && word >> 21 & 1,
                              .offset = is_up ? offset : -offset};
  bool moves = (word >> 24 & 1) == 0 || word >> 21 & 1;
  if (access.base == ARM_PC) return;
  instruction_arm_access(in, &access);
  if (moves && !is_immediate) instruction_lose(in, access.base);
}

/* Branches by register, and the other instructions encoded as a comparison without flags. */
static void decode_odd(struct instruction *in, uint32_t word) {
  uint32_t rest = word & 0x0ffffff0;
  if (rest == 0x012fff10)
    instruction_arm_go(in, word & 15);
  else if (rest == 0x012fff30)
    in->flow = FLOW_CALL;
  else if ((word & 0x0ff000f0) == 0x01600010 || (word & 0x0fb00ff0) == 0x01000000 ||
           (word & 0x0f9000f0) == 0x01000050)
    instruction_lose(in, word >> 12 & 15);
  else if ((word & 0x0f900090) == 0x01000080)
    instruction_lose(in, word >> 16 & 15);
}

static void decode_registers(struct instruction *in, uint32_t word) {
  if ((word & 0xf0) == 0x90) {
    decode_multiplication(in, word);
  } else if ((word & 0x90) == 0x90) {
    decode_extra(in, word);
  } else if ((word & 0x01900000) == 0x01000000) {
    decode_odd(in, word);
  } else {
    enum arm_operation operation = operation_of(word);
    bool is_shifted = (word & 0xff0) != 0;
    struct effect effect = {.to = word >> 12 & 15, .from = word >> 16 & 15, .by = word & 15};
    if (is_shifted && operation != ARM_COMPARE) operation = ARM_OTHER;
    instruction_arm_registers(in, operation, effect);
  }
}

static void decode_word_access(struct instruction *in, uint32_t word, const struct arm_code *code) {
  bool is_register = word >> 25 & 1, is_byte = word >> 22 & 1, is_up = word >> 23 & 1;
  int32_t offset = (int32_t)(word & 0xfff);
  struct arm_access access = {.reg = word >> 12 & 15,
                              .base = word >> 16 & 15,
                              .is_load = word >> 20 & 1,
                              .is_after = (word >> 24 & 1) == 0,
                              .is_back = word >> 21 & 1,
                              .is_word = !is_byte && !is_register,
                              .offset = is_up ? offset : -offset};
  if (access.base == ARM_PC) {
    if (access.is_load && is_register) instruction_arm_lose(in, access.reg);
    if (access.is_load && !is_register)
      instruction_arm_literal(in, access.reg, code, 8 + access.offset);
    return;
  }
  bool moves = access.is_after || access.is_back;
  if (is_register) access.is_after = access.is_back = false;
  instruction_arm_access(in, &access);
  if (is_register && moves) instruction_lose(in, access.base);
}

/* Bits 27 to 25 are 011 and bit 4 is set. */
static void decode_media(struct instruction *in, uint32_t word) {
  uint32_t high = word >> 16 & 15, low = word >> 12 & 15;
  if ((word & 0x0ff000f0) == 0x07f000f0)
    in->flow = FLOW_STOP;
  else
    instruction_lose(
        in, (word & 0x0f800000) == 0x07000000 || (word & 0x0ff00000) == 0x07800000 ? high : low);
}

static void decode_other_set(struct instruction *in, uint32_t word, uint64_t address) {
  uint32_t index = word & 15, base = word >> 16 & 15;
  if ((word & 0x0e000000) == 0x0a000000) {
    uint64_t half = word >> 23 & 2;
    in->flow = FLOW_CALL;
    in->target = (address + 8 + (uint64_t)(instruction_signed(word, 24) * 4) + half) | 1;
  } else if ((word & 0x0f100000) == 0x04000000 && index != ARM_PC) {
    instruction_lose(in, base); /* the base of a vector's load or store is written back */
  }
}

static void decode_word(struct instruction *in, uint32_t word, const struct arm_code *code) {
  switch (word >> 25 & 7) {
  case 0:
    decode_registers(in, word);
    break;
  case 1:
    decode_immediate(in, word);
    break;
  case 3:
    if (word & 0x10) {
      decode_media(in, word);
      break;
    }
    decode_word_access(in, word, code);
    break;
  case 2:
    decode_word_access(in, word, code);
    break;
  case 4: {
    struct arm_block block = instruction_arm_block_of(word, word & 0xffff);
    instruction_arm_block(in, &block);
    break;
  }
  case 5:
    in->flow = word >> 24 & 1 ? FLOW_CALL : FLOW_JUMP;
    in->target = code->address + 8 + (uint64_t)(instruction_signed(word, 24) * 4);
    break;
  default:
    if ((word & 0x0f000000) == 0x0f000000)
      instruction_lose(in, ARM_R0); /* a system call */
    else
      instruction_arm_coprocessor(in, word);
  }
}

static void decode(struct span bytes, uint64_t address, struct instruction *ret) {
  *ret = (struct instruction){.bytes = 4};
  if (bytes.len < 4) {
    ret->flow = FLOW_STOP;
    return;
  }
  uint32_t word = instruction_arm_half(bytes.data) | instruction_arm_half(bytes.data + 2) << 16;
  uint8_t condition = (uint8_t)(word >> 28);
  if (condition == OTHER_SET) {
    decode_other_set(ret, word, address);
  } else {
    ret->condition = condition == ALWAYS ? 0 : (uint8_t)(condition + 1);
    decode_word(ret, word, &(struct arm_code){bytes, address});
  }
}

const struct instruction_cpu instruction_arm = {
    .machine = EM_ARM,
    .word_bytes = 4,
    .step = 4,
    .sp = ARM_SP,
    .lr = ARM_LR,
    .tracked = {11, 7},
    .kept_by_calls = ARM_KEPT_BY_CALLS,
    .decode = decode,
};
