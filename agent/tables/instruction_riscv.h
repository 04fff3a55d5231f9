/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by RISC-V's long and short instructions. */
#ifndef TABLES_INSTRUCTION_RISCV_H
#define TABLES_INSTRUCTION_RISCV_H

#include "instruction.h"

enum { RISCV_ZERO = 0, RISCV_RA = 1, RISCV_SP = 2, RISCV_T0 = 5, RISCV_A0 = 10 };

/* TO = FROM + VALUE. */
void instruction_riscv_add(struct instruction *in, uint32_t to, uint32_t from, int64_t value);

void instruction_riscv_lose(struct instruction *in, uint32_t reg);

/* Jumps to the address in REG, with the return address in LINK. */
void instruction_riscv_go(struct instruction *in, uint32_t link, uint32_t reg);

/* The compressed instruction HALF at ADDRESS. */
void instruction_riscv_short(struct instruction *in, uint32_t half, uint64_t address);

#endif
