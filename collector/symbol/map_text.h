/* SPDX-License-Identifier: Apache-2.0 */
/* A list of symbols as a debug file: nm, System.map, kallsyms, a linker's map. */
#ifndef SYMBOL_MAP_TEXT_H
#define SYMBOL_MAP_TEXT_H

#include "elf_image.h"

/* Whether BYTES, the beginning of a file, may be a list of symbols. Any thread. */
bool map_text_is(struct span bytes);

/* Reads TEXT and adds its symbols to SET, whose names then borrow TEXT. Returns 0; -EBADMSG or
   -EOVERFLOW with the reason in WHY; -ENOMEM. */
int map_text_read(struct span text, struct symbol_set *set, struct elf_image *ret, char *why,
                  size_t why_len);

#endif
