/* SPDX-License-Identifier: Apache-2.0 */
/* Whether callees write a register that a caller's unwind rule counts from. */
#ifndef TABLES_KEPT_REGISTER_H
#define TABLES_KEPT_REGISTER_H

#include "elf_image.h"

#include <stdbool.h>

/* True when there are calls in the code of IMAGE at [LOW, HIGH), and none of them leads to an
   instruction that writes register NUMBER, DWARF's.  False when that cannot be shown: a call by a
   register, a jump into another function, an unknown instruction. */
bool kept_register(const struct elf_image *image, uint64_t low, uint64_t high, uint64_t number);

#endif
