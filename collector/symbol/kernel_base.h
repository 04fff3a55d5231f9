/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels are put anywhere, so boards ship their addresses relative to _text. */
#ifndef SYMBOL_KERNEL_BASE_H
#define SYMBOL_KERNEL_BASE_H

#include <stdint.h>

struct symbol_set;

/* Makes the symbols of SET relative to _text (_stext where there is none) when they are a Linux
   kernel's; else leaves them alone.  Returns what was taken off the addresses. */
uint64_t kernel_base_apply(struct symbol_set *set);

#endif
