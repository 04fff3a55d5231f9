/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an instruction of x86-64. */
#ifndef TABLES_INSTRUCTION_X86_64_H
#define TABLES_INSTRUCTION_X86_64_H

#include "instruction.h"

/* The opcode map of an instruction. */
enum x86_map { X86_ONE_BYTE, X86_TWO_BYTES, X86_THREE_38, X86_THREE_3A };

/* Registers have DWARF's numbers. */
struct x86_form {
  uint8_t bytes; /* total; 0: truncated or invalid */
  uint8_t map;   /* enum x86_map */
  uint8_t opcode;
  bool is_vector;   /* with a vector prefix of two to four bytes (VEX, EVEX) */
  bool is_wide;     /* of 64 bits */
  bool has_rex;     /* byte registers have the plain numbers */
  bool has_modes;   /* has a ModRM byte: */
  uint8_t reg;      /* register, */
  uint8_t group;    /* its number in the instruction, which often selects the operation */
  uint8_t rm;       /* register, or the base of the memory operand */
  bool is_register; /* rm is a register, not memory */
  bool is_plain;    /* the address is rm + displacement */
  uint8_t third;    /* of a vector instruction */
  int32_t displacement;
  int64_t immediate;
};

struct x86_form instruction_x86_form(struct span bytes);

#endif
