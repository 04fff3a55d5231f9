/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the running kernel's functions, as a text for the collector. */
#ifndef ELF_KERNEL_SYMBOLS_H
#define ELF_KERNEL_SYMBOLS_H

#include "debug_find.h"

/* Makes the list for the piece NAME ("[kernel]", "[MODULE]") of the running kernel, which must have
   the build-id ID. Reads files under ROOT ("" except in tests):

     # build-id HEX
     ADDRESS TYPE NAME        relative to the piece's base (kernel_layout.h), functions only

   Returns 0 with a descriptor of memory, the caller's to close; -ENOENT if another kernel is
   running, -EACCES or -ENOMEM, with the reason in WHY. */
int kernel_symbols_find(const char *root, const struct debug_module *module,
                        struct debug_found *ret, char *why, unsigned long why_len);

#endif
