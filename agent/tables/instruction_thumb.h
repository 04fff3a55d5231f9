/* SPDX-License-Identifier: Apache-2.0 */
/* The 32-bit part of Thumb-2. */
#ifndef TABLES_INSTRUCTION_THUMB_H
#define TABLES_INSTRUCTION_THUMB_H

#include "instruction_arm.h"

/* Decodes WORD, its first half above its second, at the address of CODE. */
void instruction_thumb_wide(struct instruction *in, uint32_t word, const struct arm_code *code);

#endif
