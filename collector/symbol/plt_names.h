/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the stubs of linkage tables: printf@plt.  Only in a process that may die. */
#ifndef SYMBOL_PLT_NAMES_H
#define SYMBOL_PLT_NAMES_H

#include <libelf.h>
#include <stdbool.h>

struct symbol_set;

/* Whether a section of this name is a linkage table. */
bool plt_names_is_table(const char *section_name);

/* Adds to SET the stubs of ELF, the functions that they lead to being those of its relocations; SET
   owns their names.  What is malformed is left out.  Returns 0, -EOVERFLOW or -ENOMEM. */
int plt_names_add(Elf *elf, struct symbol_set *set);

#endif
