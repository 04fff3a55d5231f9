/* SPDX-License-Identifier: Apache-2.0 */
/* A tool that has exported symbols alone, addr2line on a stripped library, names an address by the
   nearest one below it, however far away that ends: all static functions of libc's then are called
   like the exported ones before them.  Its file's .eh_frame knows better where each begins and
   ends.

   A tool that gives a source line has debug information and knows more than we do: a function may
   be in several pieces.  Whoever gives another name than the nearest below has other sources, too.
 */
#include "false_name.h"

#include "symbol_index.h"

#include <string.h>

/* Whether TOLD is KNOWN, with a version behind it or not: name@VERSION, name@@VERSION. */
static bool is_name(const char *told, const char *known) {
  size_t len = strcspn(told, "@");
  return len > 0 && strncmp(told, known, len) == 0 && known[len] == '\0';
}

bool false_name_is(const struct symbol_index *index, uint64_t address,
                   const struct symbol_frame *told) {
  struct symbol_match function;
  struct symbol_frame before;
  if (told->file != NULL) return false;
  if (symbol_index_find(index, address, &function) != 0 || function.name[0] != '\0') return false;
  if (symbol_index_before(index, function.start, &before) != 0) return false;
  if (address - before.start < before.size) return false;
  return is_name(told->name, before.name) || is_name(told->name, symbol_frame_system_name(&before));
}
