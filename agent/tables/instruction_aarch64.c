/* SPDX-License-Identifier: Apache-2.0 */
/* AArch64. Register 31 is the stack pointer in additions, moves of addresses and as a base;
   otherwise it is zero and nothing is written. Instructions that sign or authenticate a return
   address leave it in place. */
#include "instruction.h"

#include <elf.h>

enum { X0 = 0, FP = 29, LR = 30, SP = 31 };

static uint32_t low(uint32_t word) {
  return word & 31;
}

static uint32_t base(uint32_t word) {
  return word >> 5 & 31;
}

/* For operands where 31 means zero. */
static void lose(struct instruction *in, uint32_t reg) {
  if (reg != SP) instruction_lose(in, reg);
}

static void decode_addition(struct instruction *in, uint32_t word) {
  bool is_64 = word >> 31, is_less = word >> 30 & 1, sets_flags = word >> 29 & 1;
  int64_t value = (int64_t)(word >> 10 & 0xfff) << (word >> 22 & 1 ? 12 : 0);
  if (sets_flags && low(word) == SP) return;
  if (is_64)
    instruction_move(in, low(word), base(word), is_less ? -value : value);
  else
    instruction_lose(in, low(word));
}

/* MOVN, MOVZ, MOVK */
static void decode_wide(struct instruction *in, uint32_t word) {
  unsigned shift = (word >> 21 & 3) * 16;
  uint64_t value = word >> 5 & 0xffff;
  if (low(word) == SP) return;
  switch (word >> 29) {
  case 4:
    instruction_set(in, low(word), (int64_t) ~(value << shift));
    break;
  case 2:
  case 6:
    instruction_set(in, low(word), (int64_t)(value << shift));
    break;
  case 7:
    instruction_add(in, (struct effect){EFFECT_INSERT, (uint8_t)low(word), (uint8_t)low(word),
                                        (uint8_t)shift, (int64_t)value});
    break;
  default:
    lose(in, low(word));
  }
}

/* 100: data-processing with an immediate. */
static void decode_immediate(struct instruction *in, uint32_t word) {
  bool is_logical = (word & 0x1f800000) == 0x12000000, sets_flags = (word >> 29 & 3) == 3;
  if ((word & 0x1f800000) == 0x11000000)
    decode_addition(in, word);
  else if ((word & 0x1f800000) == 0x12800000)
    decode_wide(in, word);
  else if (is_logical && !sets_flags)
    instruction_lose(in, low(word));
  else
    lose(in, low(word));
}

/* An addition of registers; the extended-register forms allow the stack pointer. */
static void decode_sum(struct instruction *in, uint32_t word) {
  bool is_64 = word >> 31, is_less = word >> 30 & 1, sets_flags = word >> 29 & 1;
  bool is_extended = word >> 21 & 1, is_plain = (word >> 10 & 63) == (is_extended ? 24 : 0);
  uint32_t by = word >> 16 & 31;
  if (low(word) == SP && (sets_flags || !is_extended)) return;
  bool has_zero = by == SP || (base(word) == SP && !is_extended);
  if (is_64 && is_plain && !has_zero)
    instruction_add(in, (struct effect){is_less ? EFFECT_SUBTRACT : EFFECT_SUM, (uint8_t)low(word),
                                        (uint8_t)base(word), (uint8_t)by, 0});
  else
    instruction_lose(in, low(word));
}

/* 101: data-processing with registers. */
static void decode_registers(struct instruction *in, uint32_t word) {
  uint32_t from = word >> 16 & 31;
  if ((word & 0x1f000000) == 0x0b000000)
    decode_sum(in, word);
  else if ((word & 0xffe0ffe0) == 0xaa0003e0 && from != SP && low(word) != SP)
    instruction_move(in, low(word), from, 0);
  else if ((word & 0xffe0ffe0) == 0xaa0003e0 && low(word) != SP)
    instruction_set(in, low(word), 0);
  else if ((word & 0xffff0000) != 0xdac10000 && (word & 0x3fe00c10) != 0x3a400000 &&
           (word & 0x3fe00c10) != 0x3a400800)
    lose(in, low(word));
}

/* Branches by register: bits 24 to 21. */
static void decode_go(struct instruction *in, uint32_t word) {
  switch (word >> 21 & 7) {
  case 0:
    in->flow = base(word) == LR ? FLOW_RETURN : FLOW_AWAY;
    break;
  case 1:
    in->flow = FLOW_CALL;
    break;
  default:
    in->flow = FLOW_RETURN;
  }
}

static uint64_t target(uint32_t word, uint64_t address, unsigned bits) {
  uint64_t field = bits == 26 ? word : word >> 5;
  return address + (uint64_t)(instruction_signed(field, bits) * 4);
}

/* 101: branches, traps and the system. */
static void decode_branch(struct instruction *in, uint32_t word, uint64_t address) {
  if ((word & 0x7c000000) == 0x14000000) {
    in->flow = word >> 31 ? FLOW_CALL : FLOW_JUMP;
    in->target = target(word, address, 26);
  } else if ((word & 0xfe000000) == 0xd6000000) {
    decode_go(in, word);
  } else if ((word & 0x7e000000) == 0x36000000) {
    in->flow = FLOW_BRANCH;
    in->target = target(word, address, 14);
  } else if ((word & 0x7e000000) == 0x34000000 || (word & 0xff000000) == 0x54000000) {
    in->flow = FLOW_BRANCH;
    in->target = target(word, address, 19);
  } else if ((word & 0xffe0001f) == 0xd4200000) {
    in->flow = FLOW_STOP;
  } else if ((word & 0xffe0001f) == 0xd4000001) {
    instruction_lose(in, X0); /* a system call */
  } else if ((word & 0xfff00000) == 0xd5300000) {
    lose(in, low(word)); /* reads a system register */
  }
}

/* Pairs: bits 24 and 23 are 00 or 10 (at the base + offset), 01 (after), 11 (before). */
static void decode_pair(struct instruction *in, uint32_t word) {
  uint32_t size = word >> 30, mode = word >> 23 & 3, second = word >> 10 & 31;
  bool is_vector = word >> 26 & 1, is_load = word >> 22 & 1;
  unsigned scale = is_vector ? 2 + size : (size == 2 ? 3 : 2);
  int64_t offset = instruction_signed(word >> 15, 7) * (1 << scale), at = mode == 1 ? 0 : offset;
  if (!is_vector && size == 2) {
    void (*access)(struct instruction *, uint32_t, uint32_t, int64_t) =
        is_load ? instruction_load : instruction_store;
    if (low(word) != SP) access(in, low(word), base(word), at);
    if (second != SP) access(in, second, base(word), at + 8);
  } else if (!is_vector && is_load) {
    lose(in, low(word));
    lose(in, second);
  }
  if (mode & 1) instruction_move(in, base(word), base(word), offset);
}

static void access_one(struct instruction *in, uint32_t word, int64_t at) {
  uint32_t kind = word >> 22 & 3, size = word >> 30;
  bool is_vector = word >> 26 & 1;
  if (is_vector || low(word) == SP || (size == 3 && kind >= 2)) return;
  if (size == 3 && kind == 0)
    instruction_store(in, low(word), base(word), at);
  else if (size == 3)
    instruction_load(in, low(word), base(word), at);
  else if (kind != 0)
    instruction_lose(in, low(word));
}

/* One register, at an offset of 12 bits or, signed, of 9. */
static void decode_single(struct instruction *in, uint32_t word) {
  int64_t near = instruction_signed(word >> 12, 9);
  uint32_t mode = word >> 10 & 3;
  if (word >> 24 & 1) {
    access_one(in, word, (int64_t)(word >> 10 & 0xfff) * 8);
  } else if (word >> 21 & 1) {
    if ((word & 0x04c00000) != 0 && (word & 0x04000000) == 0) lose(in, low(word));
    if (mode == 0) lose(in, low(word)); /* an atomic operation */
  } else {
    access_one(in, word, mode == 1 ? 0 : near);
    if (mode == 1 || mode == 3) instruction_move(in, base(word), base(word), near);
  }
}

/* x1x0: loads and stores. */
static void decode_access(struct instruction *in, uint32_t word) {
  bool is_vector = word >> 26 & 1;
  if ((word & 0x3a000000) == 0x28000000) {
    decode_pair(in, word);
  } else if ((word & 0x3a000000) == 0x38000000) {
    decode_single(in, word);
  } else if ((word & 0x3b000000) == 0x18000000 && !is_vector) {
    lose(in, low(word)); /* a literal */
  } else if ((word & 0x3f000000) == 0x08000000) {
    lose(in, low(word));
    lose(in, word >> 16 & 31);
  } else if ((word & 0xbe800000) == 0x0c800000) {
    instruction_lose(in, base(word)); /* a vector's, with write-back to its base */
  }
}

/* x111: vectors and floating point; some write a general register. */
static void decode_vector(struct instruction *in, uint32_t word) {
  bool is_conversion = (word & 0x5f20fc00) == 0x1e200000;
  bool is_element = (word & 0x9fe0fc00) == 0x0e003c00 || (word & 0xbfe0fc00) == 0x0e002c00;
  if (is_conversion || is_element) lose(in, low(word));
}

static void decode_word(struct instruction *in, uint32_t word, uint64_t address) {
  uint32_t group = word >> 25 & 15;
  if (group == 8 || group == 9)
    decode_immediate(in, word);
  else if (group == 10 || group == 11)
    decode_branch(in, word, address);
  else if ((group & 5) == 4)
    decode_access(in, word);
  else if ((group & 7) == 5)
    decode_registers(in, word);
  else if ((group & 7) == 7)
    decode_vector(in, word);
  else if (word >> 16 == 0)
    in->flow = FLOW_STOP;
}

static uint32_t word_of(const uint8_t *bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void decode(struct span bytes, uint64_t address, struct instruction *ret) {
  *ret = (struct instruction){.bytes = 4, .flow = bytes.len < 4 ? FLOW_STOP : FLOW_ON};
  if (bytes.len >= 4) decode_word(ret, word_of(bytes.data), address);
}

const struct instruction_cpu instruction_aarch64 = {
    .machine = EM_AARCH64,
    .word_bytes = 8,
    .step = 4,
    .sp = SP,
    .lr = LR,
    .tracked = {FP, 19},
    .kept_by_calls = 0x7ffU << 19 | 1U << SP, /* x19 to x29 */
    .decode = decode,
};
