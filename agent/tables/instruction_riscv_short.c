/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V's 16-bit compressed instructions: the lowest two bits select one of three quadrants, the
   highest three its operation. Fields of three bits name x8 to x15. The bits of an immediate are
   scattered; `field` collects them. */
#include "instruction_riscv.h"

/* COUNT bits of HALF from bit FROM on, shifted to bit TO. */
static uint32_t field(uint32_t half, unsigned from, unsigned count, unsigned to) {
  return (half >> from & ((1U << count) - 1)) << to;
}

static uint32_t high(uint32_t half) {
  return 8 + (half >> 7 & 7);
}

static uint32_t low(uint32_t half) {
  return 8 + (half >> 2 & 7);
}

/* Bit 12, and bits 6 to 2. */
static int64_t immediate(uint32_t half) {
  return instruction_signed(field(half, 12, 1, 5) | field(half, 2, 5, 0), 6);
}

static void decode_first(struct instruction *in, uint32_t half) {
  uint32_t frame =
      field(half, 11, 2, 4) | field(half, 7, 4, 6) | field(half, 6, 1, 2) | field(half, 5, 1, 3);
  uint32_t offset = field(half, 10, 3, 3) | field(half, 5, 2, 6);
  if (half == 0) {
    in->flow = FLOW_STOP;
    return;
  }
  switch (half >> 13) {
  case 0:
    instruction_move(in, low(half), RISCV_SP, frame);
    break;
  case 3:
    instruction_load(in, low(half), high(half), offset);
    break;
  case 7:
    instruction_store(in, low(half), high(half), offset);
    break;
  case 2:
  case 4:
    instruction_lose(in, low(half));
    break;
  default:
    break;
  }
}

/* LUI, or an addition to the stack pointer. */
static void decode_upper(struct instruction *in, uint32_t half) {
  uint32_t to = half >> 7 & 31;
  uint32_t frame = field(half, 12, 1, 9) | field(half, 6, 1, 4) | field(half, 5, 1, 6) |
                   field(half, 3, 2, 7) | field(half, 2, 1, 5);
  if (to == RISCV_SP)
    instruction_move(in, RISCV_SP, RISCV_SP, instruction_signed(frame, 10));
  else if (to != RISCV_ZERO)
    instruction_set(in, to, immediate(half) * 4096);
}

static uint64_t jump_distance(uint32_t half) {
  uint32_t bits = field(half, 12, 1, 11) | field(half, 11, 1, 4) | field(half, 9, 2, 8) |
                  field(half, 8, 1, 10) | field(half, 7, 1, 6) | field(half, 6, 1, 7) |
                  field(half, 3, 3, 1) | field(half, 2, 1, 5);
  return (uint64_t)instruction_signed(bits, 12);
}

static uint64_t branch_distance(uint32_t half) {
  uint32_t bits = field(half, 12, 1, 8) | field(half, 10, 2, 3) | field(half, 5, 2, 6) |
                  field(half, 3, 2, 1) | field(half, 2, 1, 5);
  return (uint64_t)instruction_signed(bits, 9);
}

static void decode_second(struct instruction *in, uint32_t half, uint64_t address) {
  uint32_t to = half >> 7 & 31;
  switch (half >> 13) {
  case 0:
    instruction_riscv_add(in, to, to, immediate(half));
    break;
  case 1:
    if (immediate(half) == 0)
      instruction_riscv_lose(in, to);
    else
      instruction_riscv_add(in, to, to, immediate(half));
    break;
  case 2:
    if (to != RISCV_ZERO) instruction_set(in, to, immediate(half));
    break;
  case 3:
    decode_upper(in, half);
    break;
  case 4:
    instruction_lose(in, high(half));
    break;
  case 5:
    in->flow = FLOW_JUMP;
    in->target = address + jump_distance(half);
    break;
  default:
    in->flow = FLOW_BRANCH;
    in->target = address + branch_distance(half);
  }
}

/* Moves, additions of registers and jumps by them. */
static void decode_registers(struct instruction *in, uint32_t half) {
  uint32_t reg = half >> 7 & 31, other = half >> 2 & 31;
  bool is_linked = half >> 12 & 1;
  if (other == RISCV_ZERO && reg == RISCV_ZERO)
    in->flow = FLOW_STOP;
  else if (other == RISCV_ZERO)
    instruction_riscv_go(in, is_linked ? RISCV_RA : RISCV_ZERO, reg);
  else if (!is_linked)
    instruction_riscv_add(in, reg, other, 0);
  else if (reg != RISCV_ZERO)
    instruction_add(in, (struct effect){EFFECT_SUM, (uint8_t)reg, (uint8_t)reg, (uint8_t)other, 0});
}

static void decode_third(struct instruction *in, uint32_t half) {
  uint32_t to = half >> 7 & 31;
  uint32_t from_frame = field(half, 12, 1, 5) | field(half, 5, 2, 3) | field(half, 2, 3, 6);
  uint32_t to_frame = field(half, 10, 3, 3) | field(half, 7, 3, 6);
  switch (half >> 13) {
  case 0:
  case 2:
    instruction_riscv_lose(in, to);
    break;
  case 3:
    if (to != RISCV_ZERO) instruction_load(in, to, RISCV_SP, from_frame);
    break;
  case 4:
    decode_registers(in, half);
    break;
  case 7:
    instruction_store(in, half >> 2 & 31, RISCV_SP, to_frame);
    break;
  default:
    break;
  }
}

void instruction_riscv_short(struct instruction *in, uint32_t half, uint64_t address) {
  switch (half & 3) {
  case 0:
    decode_first(in, half);
    break;
  case 1:
    decode_second(in, half, address);
    break;
  default:
    decode_third(in, half);
  }
}
