/* SPDX-License-Identifier: Apache-2.0 */
/* The CPUs whose code is looked at for return addresses. */
#ifndef SYMBOL_LR_ARCH_H
#define SYMBOL_LR_ARCH_H

#include "unwind/unwind_arch.h"

/* What reading unwind information takes to know of MACHINE (e_machine); where its kernel saves
   registers is not among it.  NULL: nothing is known.  Any thread. */
const struct unwind_arch *lr_arch_find(uint16_t machine);

#endif
