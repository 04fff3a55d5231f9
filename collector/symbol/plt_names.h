/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the stubs of linkage tables: printf@plt. Only in a process that may crash. */
#ifndef SYMBOL_PLT_NAMES_H
#define SYMBOL_PLT_NAMES_H

#include <libelf.h>
#include <stdbool.h>

struct symbol_set;

/* Whether a section of this name is a linkage table. */
bool plt_names_is_table(const char *section_name);

/* Adds the stubs of ELF to SET, named after the functions in its relocations; SET owns the names.
   Malformed stubs are left out. Returns 0, -EOVERFLOW or -ENOMEM. */
int plt_names_add(Elf *elf, struct symbol_set *set);

#endif
