/* SPDX-License-Identifier: Apache-2.0 */
/* 32-bit MIPS (o32). Branches and jumps take effect after the next instruction. A number too large
   for an immediate is made of LUI and ORI or ADDIU. Compressed code (MIPS16, microMIPS) is not
   read. */
#include "instruction.h"

#include <elf.h>

enum { ZERO = 0, V0 = 2, V1 = 3, A3 = 7, S0 = 16, S7 = 23, GP = 28, SP = 29, FP = 30, RA = 31 };

static uint32_t rs(uint32_t word) {
  return word >> 21 & 31;
}

static uint32_t rt(uint32_t word) {
  return word >> 16 & 31;
}

static uint32_t rd(uint32_t word) {
  return word >> 11 & 31;
}

static int64_t immediate(uint32_t word) {
  return instruction_signed(word, 16);
}

static void lose(struct instruction *in, uint32_t reg) {
  if (reg != ZERO) instruction_lose(in, reg);
}

static void branch(struct instruction *in, uint32_t word, uint64_t address) {
  in->flow = FLOW_BRANCH;
  in->target = address + 4 + (uint64_t)(immediate(word) * 4);
  in->is_delayed = true;
}

static void decode_sum(struct instruction *in, uint32_t word, enum effect_kind kind) {
  if (rd(word) == ZERO) return;
  if (rt(word) == ZERO)
    instruction_move(in, rd(word), rs(word), 0);
  else if (rs(word) == ZERO && kind == EFFECT_SUM)
    instruction_move(in, rd(word), rt(word), 0);
  else
    instruction_add(in, (struct effect){(uint8_t)kind, (uint8_t)rd(word), (uint8_t)rs(word),
                                        (uint8_t)rt(word), 0});
}

/* Operations on registers. */
static void decode_special(struct instruction *in, uint32_t word) {
  switch (word & 63) {
  case 8:
    in->flow = rs(word) == RA ? FLOW_RETURN : FLOW_AWAY;
    in->is_delayed = true;
    break;
  case 9:
    in->flow = rd(word) == ZERO ? (rs(word) == RA ? FLOW_RETURN : FLOW_AWAY) : FLOW_CALL;
    in->is_delayed = true;
    break;
  case 12: /* a system call */
    instruction_lose(in, V0);
    instruction_lose(in, V1);
    instruction_lose(in, A3);
    break;
  case 33:
    decode_sum(in, word, EFFECT_SUM);
    break;
  case 35:
    decode_sum(in, word, EFFECT_SUBTRACT);
    break;
  case 37:
    if (rt(word) == ZERO || rs(word) == ZERO)
      decode_sum(in, word, EFFECT_SUM);
    else
      lose(in, rd(word));
    break;
  default:
    lose(in, rd(word));
  }
}

/* Branches by sign; with a link they are calls. */
static void decode_sign(struct instruction *in, uint32_t word, uint64_t address) {
  uint32_t kind = rt(word);
  if ((kind & 0xc) == 0x8) return; /* a trap */
  branch(in, word, address);
  if (kind & 0x10) in->flow = FLOW_CALL;
}

static void decode_branch(struct instruction *in, uint32_t word, uint64_t address) {
  bool is_always = (word >> 26 & 63) == 4 && rs(word) == rt(word);
  branch(in, word, address);
  if (is_always) in->flow = FLOW_JUMP;
}

static void decode_jump(struct instruction *in, uint32_t word, uint64_t address) {
  in->flow = word >> 26 & 1 ? FLOW_CALL : FLOW_JUMP;
  in->target = ((address + 4) & ~UINT64_C(0x0fffffff)) | (word & 0x03ffffff) << 2;
  in->is_delayed = true;
}

/* The floating-point unit. */
static void decode_float(struct instruction *in, uint32_t word, uint64_t address) {
  uint32_t kind = rs(word);
  if (kind == 8)
    branch(in, word, address);
  else if (kind < 4)
    lose(in, rt(word));
}

static void decode_immediate(struct instruction *in, uint32_t word) {
  uint32_t to = rt(word);
  if (to == ZERO) return;
  switch (word >> 26 & 63) {
  case 9:
    if (rs(word) == ZERO)
      instruction_set(in, to, immediate(word));
    else
      instruction_move(in, to, rs(word), immediate(word));
    break;
  case 13:
    if (rs(word) == ZERO)
      instruction_set(in, to, word & 0xffff);
    else
      instruction_add(in,
                      (struct effect){EFFECT_OR, (uint8_t)to, (uint8_t)rs(word), 0, word & 0xffff});
    break;
  case 15:
    instruction_set(in, to, (int32_t)(word << 16));
    break;
  default:
    lose(in, to);
  }
}

static void decode_access(struct instruction *in, uint32_t word) {
  switch (word >> 26 & 63) {
  case 35:
    if (rt(word) != ZERO) instruction_load(in, rt(word), rs(word), immediate(word));
    break;
  case 43:
    instruction_store(in, rt(word), rs(word), immediate(word));
    break;
  case 32:
  case 33:
  case 34:
  case 36:
  case 37:
  case 38:
  case 48: /* LL */
  case 56: /* SC */
    lose(in, rt(word));
    break;
  default:
    break;
  }
}

static void decode_word(struct instruction *in, uint32_t word, uint64_t address) {
  uint32_t operation = word >> 26 & 63;
  if (operation == 0)
    decode_special(in, word);
  else if (operation == 1)
    decode_sign(in, word, address);
  else if (operation <= 3)
    decode_jump(in, word, address);
  else if (operation <= 7 || (operation >= 20 && operation <= 23))
    decode_branch(in, word, address);
  else if (operation <= 15)
    decode_immediate(in, word);
  else if (operation == 17)
    decode_float(in, word, address);
  else if (operation == 28)
    lose(in, rd(word));
  else if (operation == 31)
    lose(in, (word & 63) == 32 ? rd(word) : rt(word));
  else if (operation >= 32)
    decode_access(in, word);
}

static void decode(struct span bytes, uint64_t address, struct instruction *ret) {
  *ret = (struct instruction){.bytes = 4, .flow = bytes.len < 4 ? FLOW_STOP : FLOW_ON};
  if (bytes.len >= 4)
    decode_word(ret, (uint32_t)span_number(span_of(bytes.data, 4), false), address);
}

static void decode_big(struct span bytes, uint64_t address, struct instruction *ret) {
  *ret = (struct instruction){.bytes = 4, .flow = bytes.len < 4 ? FLOW_STOP : FLOW_ON};
  if (bytes.len >= 4)
    decode_word(ret, (uint32_t)span_number(span_of(bytes.data, 4), true), address);
}

/* For either byte order. */
#define MIPS(how)                                                                                \
  {                                                                                              \
    .machine = EM_MIPS, .word_bytes = 4, .step = 4, .sp = SP, .lr = RA, .tracked = {FP, S0},     \
    .kept_by_calls = 0xffU << S0 | 1U << GP | 1U << SP | 1U << FP | 1U << ZERO, .decode = (how), \
  }

const struct instruction_cpu instruction_mips = MIPS(decode);
const struct instruction_cpu instruction_mips_big = MIPS(decode_big);
