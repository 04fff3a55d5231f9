/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64. A call pushes the return address, so it is at the stack pointer when a function starts.
   Nearly all code of this CPU has call frame information. The rest is assembler, and programs built
   without it. So only the plain instructions of prologues and epilogues are followed; for others
   the overwritten registers suffice. */
#include "instruction_x86_64.h"

#include <elf.h>

enum { AX = 0, DX = 1, CX = 2, BX = 3, SI = 4, DI = 5, BP = 6, SP = 7, R11 = 11, WORD = 8 };

/* A byte of REG is written, or, for numbers 4 to 7 without REX, the second byte of another
   register. */
static void lose_byte(struct instruction *in, const struct x86_form *form, uint8_t reg) {
  static const uint8_t second[] = {[SP] = AX, [BP] = CX, [SI] = DX, [DI] = BX};
  bool is_second = !form->has_rex && reg >= SI && reg <= SP;
  instruction_lose(in, is_second ? second[reg] : reg);
}

/* The operand that FORM reads or writes becomes unknown, if it is a register. */
static void lose_rm(struct instruction *in, const struct x86_form *form, bool is_byte) {
  if (!form->is_register) return;
  if (is_byte)
    lose_byte(in, form, form->rm);
  else
    instruction_lose(in, form->rm);
}

static void push(struct instruction *in) {
  instruction_move(in, SP, SP, -WORD);
}

static void pop(struct instruction *in) {
  instruction_move(in, SP, SP, WORD);
}

/* MOV; TO_RM is the direction. */
static void decode_move(struct instruction *in, const struct x86_form *form, bool to_rm) {
  uint8_t to = to_rm ? form->rm : form->reg, from = to_rm ? form->reg : form->rm;
  if (form->is_register && form->is_wide)
    instruction_move(in, to, from, 0);
  else if (form->is_register || (!to_rm && !(form->is_plain && form->is_wide)))
    instruction_lose(in, to);
  else if (!to_rm)
    instruction_load(in, to, form->rm, form->displacement);
  else if (form->is_plain && form->is_wide)
    instruction_store(in, form->reg, form->rm, form->displacement);
}

/* 80 to 83: an operation with an immediate, selected by GROUP. */
static void decode_immediate(struct instruction *in, const struct x86_form *form) {
  bool is_sum = form->group == 0 || form->group == 5;
  if (form->group == 7 || !form->is_register) return;
  if (is_sum && form->is_wide && form->opcode != 0x80)
    instruction_move(in, form->rm, form->rm, form->group == 0 ? form->immediate : -form->immediate);
  else
    lose_rm(in, form, form->opcode == 0x80);
}

/* 00 to 3f: eight operations, each on registers and memory in six forms. */
static void decode_operation(struct instruction *in, const struct x86_form *form) {
  uint8_t operation = form->opcode >> 3, way = form->opcode & 7;
  bool is_sum = (operation == 0 || operation == 5) && (way == 1 || way == 3);
  uint8_t to = way == 1 ? form->rm : form->reg, by = way == 1 ? form->reg : form->rm;
  if (operation == 7) return; /* a comparison */
  if (is_sum && form->is_wide && form->is_register)
    instruction_add(in,
                    (struct effect){operation == 0 ? EFFECT_SUM : EFFECT_SUBTRACT, to, to, by, 0});
  else if (way <= 1)
    lose_rm(in, form, way == 0);
  else if (way == 2)
    lose_byte(in, form, form->reg);
  else
    instruction_lose(in, way == 3 ? form->reg : AX);
}

static void decode_address(struct instruction *in, const struct x86_form *form) {
  if (form->is_plain && form->is_wide)
    instruction_move(in, form->reg, form->rm, form->displacement);
  else
    instruction_lose(in, form->reg);
}

static void decode_leave(struct instruction *in) {
  instruction_move(in, SP, BP, 0);
  instruction_load(in, BP, SP, 0);
  pop(in);
}

/* f6, f7: tests, NOT, NEG, and multiplications and divisions by AX. */
static void decode_unary(struct instruction *in, const struct x86_form *form) {
  if (form->group == 2 || form->group == 3) lose_rm(in, form, form->opcode == 0xf6);
  if (form->group < 4) return;
  instruction_lose(in, AX);
  instruction_lose(in, DX);
}

static void decode_last_group(struct instruction *in, const struct x86_form *form) {
  if (form->group < 2)
    lose_rm(in, form, false);
  else if (form->group == 2 || form->group == 3)
    in->flow = FLOW_CALL;
  else if (form->group == 4 || form->group == 5)
    in->flow = FLOW_AWAY;
  else if (form->group == 6)
    push(in);
}

/* 40 to 6f, without the prefixes. */
static void decode_stack(struct instruction *in, const struct x86_form *form) {
  uint8_t opcode = form->opcode;
  if (opcode >= 0x50 && opcode < 0x58) {
    push(in);
    instruction_store(in, form->rm, SP, form->rm == SP ? INT32_MIN : 0);
  } else if (opcode >= 0x58 && opcode < 0x60) {
    instruction_load(in, form->rm, SP, 0);
    if (form->rm != SP) pop(in);
  } else if (opcode == 0x68 || opcode == 0x6a) {
    push(in);
  } else if (opcode == 0x63 || opcode == 0x69 || opcode == 0x6b) {
    instruction_lose(in, form->reg);
  }
}

static void go(struct instruction *in, enum instruction_flow flow, uint64_t target) {
  in->flow = (uint8_t)flow;
  in->target = target;
}

static void decode_80(struct instruction *in, const struct x86_form *form) {
  switch (form->opcode) {
  case 0x86:
  case 0x87:
    lose_rm(in, form, form->opcode == 0x86);
    lose_byte(in, form, form->reg);
    break;
  case 0x88:
    lose_rm(in, form, true);
    break;
  case 0x8a:
    lose_byte(in, form, form->reg);
    break;
  case 0x89:
  case 0x8b:
    decode_move(in, form, form->opcode == 0x89);
    break;
  case 0x8c:
    lose_rm(in, form, false);
    break;
  case 0x8d:
    decode_address(in, form);
    break;
  case 0x8f:
    lose_rm(in, form, false);
    pop(in);
    break;
  default:
    if (form->opcode < 0x84) decode_immediate(in, form);
  }
}

static void decode_c0(struct instruction *in, const struct x86_form *form) {
  switch (form->opcode) {
  case 0xc2:
  case 0xc3:
    in->flow = FLOW_RETURN;
    break;
  case 0xc7:
    if (form->is_register && form->is_wide)
      instruction_set(in, form->rm, form->immediate);
    else
      lose_rm(in, form, false);
    break;
  case 0xc9:
    decode_leave(in);
    break;
  case 0xcc:
    in->flow = FLOW_STOP;
    break;
  default:
    if (form->has_modes && form->opcode < 0xd4) lose_rm(in, form, (form->opcode & 1) == 0);
  }
}

static void decode_e0(struct instruction *in, const struct x86_form *form, uint64_t next) {
  uint64_t target = next + (uint64_t)form->immediate;
  switch (form->opcode) {
  case 0xe8:
    go(in, FLOW_CALL, target);
    break;
  case 0xe9:
  case 0xeb:
    go(in, FLOW_JUMP, target);
    break;
  case 0xf4:
    in->flow = FLOW_STOP;
    break;
  case 0xf6:
  case 0xf7:
    decode_unary(in, form);
    break;
  case 0xfe:
    lose_rm(in, form, true);
    break;
  case 0xff:
    decode_last_group(in, form);
    break;
  default:
    if (form->opcode < 0xe4) instruction_lose(in, CX);
    if (form->opcode < 0xe4) go(in, FLOW_BRANCH, target);
  }
}

/* String operations, which advance their pointers and decrement CX. */
static void decode_string(struct instruction *in) {
  instruction_lose(in, SI);
  instruction_lose(in, DI);
  instruction_lose(in, CX);
  instruction_lose(in, AX);
}

/* 90 to bf: moves of numbers to registers, and operations on AX. */
static void decode_90(struct instruction *in, const struct x86_form *form) {
  uint8_t opcode = form->opcode;
  if (opcode >= 0xb8)
    instruction_set(in, form->rm,
                    form->is_wide ? form->immediate : (int64_t)(uint32_t)form->immediate);
  else if (opcode >= 0xb0)
    lose_byte(in, form, form->rm);
  else if ((opcode >= 0xa4 && opcode < 0xa8) || (opcode >= 0xaa && opcode < 0xb0))
    decode_string(in);
  else if (opcode == 0x9c)
    push(in);
  else if (opcode == 0x9d)
    pop(in);
  else if (opcode != 0x90 || form->rm != AX)
    instruction_lose(in, opcode < 0x98 ? form->rm : AX);
}

static void decode_one_byte(struct instruction *in, const struct x86_form *form, uint64_t next) {
  uint8_t opcode = form->opcode;
  if (opcode < 0x40)
    decode_operation(in, form);
  else if (opcode < 0x70)
    decode_stack(in, form);
  else if (opcode < 0x80)
    go(in, FLOW_BRANCH, next + (uint64_t)form->immediate);
  else if (opcode < 0x90)
    decode_80(in, form);
  else if (opcode < 0xc0)
    decode_90(in, form);
  else if (opcode < 0xe0)
    decode_c0(in, form);
  else
    decode_e0(in, form, next);
}

/* The manual's table lists those that only read, or write only vectors; the others write REG, RM or
   both. */
static void decode_two_bytes(struct instruction *in, const struct x86_form *form, uint64_t next) {
  uint8_t opcode = form->opcode;
  bool writes_reg = (opcode >= 0x40 && opcode < 0x50) || opcode == 0x2c || opcode == 0x2d ||
                    opcode == 0x50 || opcode == 0xaf || opcode == 0xb6 || opcode == 0xb7 ||
                    (opcode >= 0xbc && opcode <= 0xbf) || opcode == 0xb8 || opcode == 0xc5 ||
                    opcode == 0xd7 || opcode == 0xc0 || opcode == 0xc1 || opcode == 0x02 ||
                    opcode == 0x03;
  bool writes_rm = (opcode >= 0x90 && opcode < 0xa0) || opcode == 0x7e || opcode == 0xab ||
                   opcode == 0xa4 || opcode == 0xa5 || opcode == 0xac || opcode == 0xad ||
                   opcode == 0xb3 || opcode == 0xb0 || opcode == 0xb1 || opcode == 0xbb ||
                   opcode == 0xba || opcode == 0xc0 || opcode == 0xc1 || opcode == 0xae ||
                   opcode == 0xc7 || (opcode >= 0xc8 && opcode < 0xd0);
  if (opcode >= 0x80 && opcode < 0x90) go(in, FLOW_BRANCH, next + (uint64_t)form->immediate);
  if (opcode == 0x0b) in->flow = FLOW_STOP;
  bool is_wide_swap = opcode == 0xc7 && !form->is_register; /* cmpxchg16b */
  bool is_state = opcode == 0xa2 || opcode == 0x31 || opcode == 0x01 || is_wide_swap;
  if (opcode == 0x05 || opcode == 0xb0 || opcode == 0xb1 || is_state) instruction_lose(in, AX);
  if (opcode == 0x05) instruction_lose(in, R11);
  if (opcode == 0x05 || opcode == 0xa2 || opcode == 0x01) instruction_lose(in, CX);
  if (opcode == 0xa2) instruction_lose(in, BX);
  if (is_state) instruction_lose(in, DX);
  if (writes_reg) instruction_lose(in, form->reg);
  if (writes_rm) lose_rm(in, form, opcode >= 0x90 && opcode < 0xa0);
}

/* Two-byte opcodes with a vector prefix, and three-byte ones: few write general registers, or move
   from vectors into them. */
static void decode_vector(struct instruction *in, const struct x86_form *form) {
  uint8_t opcode = form->opcode;
  bool is_two = form->map == X86_TWO_BYTES, is_3a = form->map == X86_THREE_3A;
  bool is_moved = opcode == 0x2c || opcode == 0x2d || opcode == 0x50 || opcode == 0x93 ||
                  opcode == 0xc5 || opcode == 0xd7;
  bool is_to_rm = is_two ? opcode == 0x7e : is_3a && opcode >= 0x14 && opcode < 0x18;
  if (is_two ? is_moved : opcode >= 0xf0) instruction_lose(in, form->reg);
  if (form->is_vector && !is_two && (opcode == 0xf3 || opcode == 0xf6))
    instruction_lose(in, form->third);
  if (is_to_rm) lose_rm(in, form, false);
}

static void decode(struct span bytes, uint64_t address, struct instruction *ret) {
  struct x86_form form = instruction_x86_form(bytes);
  uint64_t next = address + form.bytes;
  *ret = (struct instruction){.bytes = form.bytes};
  bool is_zero = bytes.len >= 2 && bytes.data[0] == 0 && bytes.data[1] == 0; /* padding */
  if (form.bytes == 0 || is_zero) {
    *ret = (struct instruction){.bytes = 1, .flow = FLOW_STOP};
  } else if (form.map == X86_ONE_BYTE) {
    decode_one_byte(ret, &form, next);
  } else if (form.map == X86_TWO_BYTES && !form.is_vector) {
    decode_two_bytes(ret, &form, next);
  } else {
    decode_vector(ret, &form);
  }
}

const struct instruction_cpu instruction_x86_64 = {
    .machine = EM_X86_64,
    .word_bytes = WORD,
    .step = 1,
    .sp = SP,
    .lr = INSTRUCTION_NO_REGISTER,
    .tracked = {BP, BX},
    .kept_by_calls = 1U << BX | 1U << BP | 1U << SP | 0xfU << 12,
    .decode = decode,
};
