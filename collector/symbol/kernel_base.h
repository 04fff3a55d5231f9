/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels load at varying addresses, so boards send their addresses relative to _text. */
#ifndef SYMBOL_KERNEL_BASE_H
#define SYMBOL_KERNEL_BASE_H

#include <stdint.h>

struct symbol_set;

/* If the symbols of SET are a Linux kernel's, makes them relative to _text (_stext if there is
   none). Returns the offset subtracted from the addresses; 0 if nothing changed. */
uint64_t kernel_base_apply(struct symbol_set *set);

#endif
