/* SPDX-License-Identifier: Apache-2.0 */
/* The CPUs with code that is scanned for return addresses. */
#ifndef SYMBOL_LR_ARCH_H
#define SYMBOL_LR_ARCH_H

#include "unwind/unwind_arch.h"

/* Returns the constants that reading unwind information needs for MACHINE (e_machine), except where
   its kernel saves registers. NULL: unsupported. Any thread. */
const struct unwind_arch *lr_arch_find(uint16_t machine);

#endif
