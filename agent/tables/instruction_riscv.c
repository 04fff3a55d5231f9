/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit RISC-V with compressed instructions (instruction_riscv_short.c). x0 is zero. A jump that
   links in x5 calls one of the compiler's helpers that save or restore registers: the stack pointer
   after it is unknown. */
#include "instruction_riscv.h"

#include <elf.h>

enum { LOAD_DOUBLE = 3 };

static uint32_t rd(uint32_t word) {
  return word >> 7 & 31;
}

static uint32_t rs1(uint32_t word) {
  return word >> 15 & 31;
}

static uint32_t rs2(uint32_t word) {
  return word >> 20 & 31;
}

static uint32_t kind(uint32_t word) {
  return word >> 12 & 7;
}

void instruction_riscv_add(struct instruction *in, uint32_t to, uint32_t from, int64_t value) {
  if (to == RISCV_ZERO) return;
  if (from == RISCV_ZERO)
    instruction_set(in, to, value);
  else
    instruction_move(in, to, from, value);
}

void instruction_riscv_lose(struct instruction *in, uint32_t reg) {
  if (reg != RISCV_ZERO) instruction_lose(in, reg);
}

void instruction_riscv_go(struct instruction *in, uint32_t link, uint32_t reg) {
  if (link == RISCV_ZERO) {
    in->flow = reg == RISCV_RA ? FLOW_RETURN : FLOW_AWAY;
  } else if (link == RISCV_T0) {
    instruction_lose(in, RISCV_SP);
  } else {
    in->flow = FLOW_CALL;
  }
}

static void decode_jump(struct instruction *in, uint32_t word, uint64_t address) {
  uint64_t field =
      (word >> 11 & 0x100000) | (word & 0xff000) | (word >> 9 & 0x800) | (word >> 20 & 0x7fe);
  in->target = address + (uint64_t)instruction_signed(field, 21);
  if (rd(word) == RISCV_ZERO)
    in->flow = FLOW_JUMP;
  else
    instruction_riscv_go(in, rd(word), RISCV_ZERO);
}

static void decode_branch(struct instruction *in, uint32_t word, uint64_t address) {
  uint64_t field =
      (word >> 19 & 0x1000) | (word << 4 & 0x800) | (word >> 20 & 0x7e0) | (word >> 7 & 0x1e);
  in->flow = FLOW_BRANCH;
  in->target = address + (uint64_t)instruction_signed(field, 13);
}

static void decode_sum(struct instruction *in, uint32_t word) {
  bool is_sum = (word & 0xfe007000) == 0, is_difference = (word & 0xfe007000) == 0x40000000;
  if (rd(word) == RISCV_ZERO) return;
  if (is_sum && rs1(word) == RISCV_ZERO)
    instruction_riscv_add(in, rd(word), rs2(word), 0);
  else if ((is_sum || is_difference) && rs2(word) == RISCV_ZERO)
    instruction_riscv_add(in, rd(word), rs1(word), 0);
  else if (is_sum || is_difference)
    instruction_add(in, (struct effect){is_sum ? EFFECT_SUM : EFFECT_SUBTRACT, (uint8_t)rd(word),
                                        (uint8_t)rs1(word), (uint8_t)rs2(word), 0});
  else
    instruction_lose(in, rd(word));
}

static void decode_immediate(struct instruction *in, uint32_t word, bool is_half) {
  int64_t value = (int32_t)word >> 20;
  bool is_sum = kind(word) == 0 && !(is_half && value == 0);
  if (is_sum)
    instruction_riscv_add(in, rd(word), rs1(word), value);
  else
    instruction_riscv_lose(in, rd(word));
}

/* Floating point: these write a general register. */
static void decode_float(struct instruction *in, uint32_t word) {
  uint32_t operation = word >> 27;
  if (operation == 0x14 || operation == 0x18 || operation == 0x1c)
    instruction_riscv_lose(in, rd(word));
}

static void decode_store(struct instruction *in, uint32_t word) {
  int64_t offset = ((int32_t)word >> 25) * 32 + (int32_t)rd(word);
  if (kind(word) == LOAD_DOUBLE && rs2(word) != RISCV_ZERO)
    instruction_store(in, rs2(word), rs1(word), offset);
}

static void decode_load(struct instruction *in, uint32_t word) {
  if (kind(word) == LOAD_DOUBLE && rd(word) != RISCV_ZERO)
    instruction_load(in, rd(word), rs1(word), (int32_t)word >> 20);
  else
    instruction_riscv_lose(in, rd(word));
}

static void decode_system(struct instruction *in, uint32_t word) {
  if (kind(word) != 0)
    instruction_riscv_lose(in, rd(word));
  else if (word == 0x73)
    instruction_lose(in, RISCV_A0); /* a system call */
  else if (word == 0x100073)
    in->flow = FLOW_STOP;
}

static void decode_word(struct instruction *in, uint32_t word, uint64_t address) {
  switch (word & 0x7f) {
  case 0x03:
    decode_load(in, word);
    break;
  case 0x23:
    decode_store(in, word);
    break;
  case 0x13:
  case 0x1b:
    decode_immediate(in, word, word & 8);
    break;
  case 0x33:
    decode_sum(in, word);
    break;
  case 0x37:
    if (rd(word) != RISCV_ZERO) instruction_set(in, rd(word), (int32_t)(word & 0xfffff000));
    break;
  case 0x17: /* AUIPC */
    if (rd(word) != RISCV_ZERO)
      instruction_set(in, rd(word), (int64_t)address + (int32_t)(word & 0xfffff000));
    break;
  case 0x63:
    decode_branch(in, word, address);
    break;
  case 0x67:
    instruction_riscv_go(in, rd(word), rs1(word));
    break;
  case 0x6f:
    decode_jump(in, word, address);
    break;
  case 0x73:
    decode_system(in, word);
    break;
  case 0x53:
    decode_float(in, word);
    break;
  case 0x2f: /* atomic operations */
  case 0x3b:
    instruction_riscv_lose(in, rd(word));
    break;
  case 0x57: /* of vectors; this one sets their length */
    if (kind(word) == 7) instruction_riscv_lose(in, rd(word));
    break;
  default:
    break;
  }
}

static void decode(struct span bytes, uint64_t address, struct instruction *ret) {
  uint32_t half = bytes.len >= 2 ? bytes.data[0] | (uint32_t)bytes.data[1] << 8 : 0;
  bool is_long = (half & 3) == 3;
  *ret = (struct instruction){.bytes = is_long ? 4 : 2};
  if (bytes.len < ret->bytes)
    *ret = (struct instruction){.bytes = 2, .flow = FLOW_STOP};
  else if (is_long)
    decode_word(ret, half | (uint32_t)bytes.data[2] << 16 | (uint32_t)bytes.data[3] << 24, address);
  else
    instruction_riscv_short(ret, half, address);
}

const struct instruction_cpu instruction_riscv = {
    .machine = EM_RISCV,
    .word_bytes = 8,
    .step = 2,
    .sp = RISCV_SP,
    .lr = RISCV_RA,
    .tracked = {8, 9},
    .kept_by_calls = 0x3ffU << 18 | 3U << 8 | 0x1dU, /* s0 to s11, zero, sp, gp, tp */
    .decode = decode,
};
