/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an instruction of x86-64. */
#ifndef TABLES_INSTRUCTION_X86_64_H
#define TABLES_INSTRUCTION_X86_64_H

#include "instruction.h"

/* Which table of operations an opcode is of. */
enum x86_map { X86_ONE_BYTE, X86_TWO_BYTES, X86_THREE_38, X86_THREE_3A };

/* Registers have DWARF's numbers. */
struct x86_form {
  uint8_t bytes; /* all; 0: it is cut off, or none */
  uint8_t map;   /* enum x86_map */
  uint8_t opcode;
  bool is_vector;   /* with a prefix of three or four bytes (VEX, EVEX) */
  bool is_wide;     /* of 64 bits */
  bool has_rex;     /* so that byte registers are those of the numbers */
  bool has_modes;   /* it has these: */
  uint8_t reg;      /* register, */
  uint8_t group;    /* its number in the instruction: it often says which operation */
  uint8_t rm;       /* register, or that which the place in memory is counted from */
  bool is_register; /* rm is a register, not memory */
  bool is_plain;    /* the place is rm + displacement */
  uint8_t third;    /* of a vector's instruction */
  int32_t displacement;
  int64_t immediate;
};

struct x86_form instruction_x86_form(struct span bytes);

#endif
