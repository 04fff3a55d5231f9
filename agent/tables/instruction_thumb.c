/* SPDX-License-Identifier: Apache-2.0 */
/* ARM's instruction set of 16- and 32-bit instructions (Thumb-2). A 32-bit one begins with a
   halfword that has 11101 or more in its upper five bits. IT makes up to four following
   instructions conditional. The instruction that jumps by a switch's table determines the size of
   its entries.

   The program counter reads as the instruction's address + 4. */
#include "instruction_thumb.h"

#include <elf.h>

enum { ALWAYS = 14 };

/* IT: bits 7 to 4 of HALF are the condition. Bits 3 to 0 have a bit for each instruction, which
   selects that condition or its opposite, and then a 1. */
static uint32_t coming(uint32_t half) {
  uint32_t condition = half >> 4 & 15, mask = half & 15, ret = 0;
  unsigned count = 4 - (unsigned)__builtin_ctz(mask);
  for (unsigned i = 0; i < count; i++) {
    uint32_t low = i == 0 ? condition & 1 : mask >> (4 - i) & 1;
    uint32_t each = (condition & 14) | low;
    ret |= (each == ALWAYS ? 0 : each + 1) << 8 * i;
  }
  return ret;
}

static void decode_shift(struct instruction *in, uint32_t half) {
  uint8_t to = half & 7, from = half >> 3 & 7, by = half >> 6 & 7;
  bool is_move = (half & 0xffc0) == 0;
  struct effect effect = {.to = to, .from = from, .by = by, .value = by};
  enum arm_operation operation = half & 0x200 ? ARM_SUBTRACT : ARM_ADD;
  if (is_move)
    instruction_move(in, to, from, 0);
  else if ((half & 0xfc00) == 0x1800)
    instruction_arm_registers(in, operation, effect);
  else if ((half & 0xfc00) == 0x1c00)
    instruction_arm_immediate(in, operation, effect);
  else
    instruction_lose(in, to);
}

/* 001: an operation on a register and a byte. */
static void decode_byte(struct instruction *in, uint32_t half) {
  static const enum arm_operation operations[] = {ARM_MOVE, ARM_COMPARE, ARM_ADD, ARM_SUBTRACT};
  uint8_t reg = half >> 8 & 7;
  instruction_arm_immediate(in, operations[half >> 11 & 3],
                            (struct effect){.to = reg, .from = reg, .value = half & 0xff});
}

/* 0100: operations on registers, branches by register, loads of literals. */
static void decode_registers(struct instruction *in, uint32_t half, const struct arm_code *code) {
  static const enum arm_operation operations[] = {ARM_ADD, ARM_COMPARE, ARM_MOVE};
  uint8_t low = half & 7, high = half >> 3 & 15, to = (uint8_t)(low | (half >> 4 & 8));
  uint32_t operation = half >> 6 & 15;
  if (half & 0x800) {
    instruction_arm_literal(in, half >> 8 & 7, code, 4 + 4 * (int32_t)(half & 0xff));
  } else if ((half & 0x400) == 0) {
    if (operation != 8 && operation != 10 && operation != 11) instruction_lose(in, low);
  } else if ((half & 0x300) != 0x300) {
    instruction_arm_registers(in, operations[half >> 8 & 3],
                              (struct effect){.to = to, .from = to, .by = high});
  } else if (half & 0x80) {
    in->flow = FLOW_CALL;
  } else {
    instruction_arm_go(in, high);
  }
}

/* 0101 to 1001: a load or store of one register. */
static void decode_access(struct instruction *in, uint32_t half) {
  uint32_t kind = half >> 12;
  struct arm_access access = {.reg = half & 7, .base = half >> 3 & 7, .is_load = half >> 11 & 1};
  if (kind == 5) {
    access.is_load = (half >> 9 & 7) >= 3;
  } else if (kind == 6) {
    access.is_word = true;
    access.offset = (half >> 6 & 31) * 4;
  } else if (kind == 9) {
    access.is_word = true;
    access.base = ARM_SP;
    access.reg = half >> 8 & 7;
    access.offset = (half & 0xff) * 4;
  }
  instruction_arm_access(in, &access);
}

static void decode_push(struct instruction *in, uint32_t half) {
  uint32_t is_load = half >> 11 & 1, odd = half >> 8 & 1 ? 1U << (is_load ? ARM_PC : ARM_LR) : 0;
  uint32_t list = (half & 0xff) | odd;
  int32_t bytes = 4 * __builtin_popcount(list);
  struct arm_block block = {.list = list, .base = ARM_SP, .is_load = is_load};
  block.first = is_load ? 0 : -bytes;
  block.step = is_load ? bytes : -bytes;
  instruction_arm_block(in, &block);
}

/* 1011 */
static void decode_odd(struct instruction *in, uint32_t half, uint64_t address) {
  uint32_t bytes = (half & 0x7f) * 4, kind = half >> 8 & 15;
  if (kind == 0) {
    instruction_move(in, ARM_SP, ARM_SP, half & 0x80 ? -(int64_t)bytes : (int64_t)bytes);
  } else if ((kind & 5) == 1) {
    in->flow = FLOW_BRANCH;
    in->target = address + 4 + ((half >> 3 & 0x40) | (half >> 2 & 0x3e));
  } else if ((kind & 6) == 4) {
    decode_push(in, half);
  } else if (kind == 15 && (half & 15) != 0) {
    in->coming = coming(half);
  } else if (kind == 2 || kind == 10) {
    instruction_lose(in, half & 7);
  }
}

static void decode_block(struct instruction *in, uint32_t half) {
  uint32_t list = half & 0xff;
  struct arm_block block = {.list = list, .base = half >> 8 & 7, .is_load = half >> 11 & 1};
  block.step = 4 * __builtin_popcount(list);
  instruction_arm_block(in, &block);
}

/* 1101 */
static void decode_branch(struct instruction *in, uint32_t half, uint64_t address) {
  uint32_t condition = half >> 8 & 15;
  if (condition == 14) {
    in->flow = FLOW_STOP;
  } else if (condition == 15) {
    instruction_lose(in, ARM_R0); /* a system call */
  } else {
    in->flow = FLOW_BRANCH;
    in->target = address + 4 + (uint64_t)(instruction_signed(half, 8) * 2);
  }
}

static void decode_short(struct instruction *in, uint32_t half, const struct arm_code *code) {
  switch (half >> 12) {
  case 0:
  case 1:
    decode_shift(in, half);
    break;
  case 2:
  case 3:
    decode_byte(in, half);
    break;
  case 4:
    decode_registers(in, half, code);
    break;
  case 10:
    if (half & 0x800)
      instruction_move(in, half >> 8 & 7, ARM_SP, (half & 0xff) * 4);
    else
      instruction_lose(in, half >> 8 & 7);
    break;
  case 11:
    decode_odd(in, half, code->address);
    break;
  case 12:
    decode_block(in, half);
    break;
  case 13:
    decode_branch(in, half, code->address);
    break;
  case 14:
    in->flow = FLOW_JUMP;
    in->target = code->address + 4 + (uint64_t)(instruction_signed(half, 11) * 2);
    break;
  default:
    decode_access(in, half);
  }
}

static void decode(struct span bytes, uint64_t address, struct instruction *ret) {
  struct arm_code code = {bytes, address};
  uint32_t half = bytes.len >= 2 ? instruction_arm_half(bytes.data) : 0;
  bool is_wide = half >= 0xe800;
  *ret = (struct instruction){.bytes = is_wide ? 4 : 2};
  if (bytes.len < ret->bytes)
    *ret = (struct instruction){.bytes = 2, .flow = FLOW_STOP};
  else if (is_wide)
    instruction_thumb_wide(ret, half << 16 | instruction_arm_half(bytes.data + 2), &code);
  else
    decode_short(ret, half, &code);
}

const struct instruction_cpu instruction_thumb = {
    .machine = EM_ARM,
    .word_bytes = 4,
    .step = 2,
    .sp = ARM_SP,
    .lr = ARM_LR,
    .tracked = {11, 7},
    .kept_by_calls = ARM_KEPT_BY_CALLS,
    .decode = decode,
};
