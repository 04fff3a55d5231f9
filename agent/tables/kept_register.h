/* SPDX-License-Identifier: Apache-2.0 */
/* Whether callees write a register that a caller's unwind rule counts from. */
#ifndef TABLES_KEPT_REGISTER_H
#define TABLES_KEPT_REGISTER_H

#include "elf_image.h"

#include <stdbool.h>

enum { KEPT_INSTRUCTIONS_MAX = 4 << 20 /* decoded for all questions on one file */ };

struct kept_code {
  const struct elf_image *image;
  uint32_t decoded; /* 0 at first */
};

/* True when there are calls in CODE at [LOW, HIGH), and none of them leads to an instruction that
   writes register NUMBER, DWARF's.  False when that cannot be shown: a call by a register, a jump
   into another function, an unknown instruction, or KEPT_INSTRUCTIONS_MAX were decoded already. */
bool kept_register(struct kept_code *code, uint64_t low, uint64_t high, uint64_t number);

#endif
