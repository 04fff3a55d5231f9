/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether callees write a register on which a caller's unwind rule is based. */
#ifndef TABLES_KEPT_REGISTER_H
#define TABLES_KEPT_REGISTER_H

#include "elf_image.h"

#include <stdbool.h>

enum { KEPT_INSTRUCTIONS_MAX = 4 << 20 /* decoded for all queries on one file */ };

struct kept_code {
  const struct elf_image *image;
  uint32_t decoded; /* initially 0 */
};

/* True if CODE has calls in [LOW, HIGH), and none of them leads to an instruction that writes
   register NUMBER (DWARF). False if that cannot be shown: a call by a register, a jump into another
   function, an unknown instruction, or KEPT_INSTRUCTIONS_MAX were already decoded. */
bool kept_register(struct kept_code *code, uint64_t low, uint64_t high, uint64_t number);

#endif
