/* SPDX-License-Identifier: Apache-2.0 */
/* A tool that reads only exported symbols names an address by the nearest symbol below it, however
   far away. addr2line does so on a stripped library. It would name all static functions of libc
   after the exported ones before them. The file's .eh_frame has the bounds of each function, and
   its debug file even the names.

   A tool that returns a source line has debug information, and its answer is kept: a function may
   be in several pieces. If the index has no name, an answer other than the nearest name below must
   come from another source, and is kept too. If the index has a name, exported functions are among
   those before: NAMES_BACK_MAX of them are compared, about 30 us for each address. */
#include "false_name.h"

#include "symbol_index.h"

#include <string.h>

enum { NAMES_BACK_MAX = 64 };

/* Returns the length of TOLD without its version, name@VERSION or name@@VERSION. */
static size_t len_of(const char *told) {
  return strcspn(told, "@");
}

/* Whether TOLD is KNOWN. */
static bool is_name(const char *told, const char *known) {
  size_t len = len_of(told);
  return len > 0 && strncmp(told, known, len) == 0 && known[len] == '\0';
}

static bool is_name_of(const char *told, const struct symbol_frame *known) {
  return is_name(told, known->name) || is_name(told, symbol_frame_system_name(known));
}

/* Whether TOLD is the source name of KNOWN, its clone or part: name.constprop.0, name.cold. */
static bool is_clone_of(const char *told, const char *known) {
  size_t len = len_of(told);
  return len > 0 && strncmp(told, known, len) == 0 && known[len] == '.';
}

/* Whether TOLD is among the LIMIT names before START, of a function that ends before START. */
static bool is_of_one_before(const struct symbol_index *index, uint64_t start, const char *told,
                             unsigned limit) {
  struct symbol_frame before;
  for (unsigned i = 0; i < limit && symbol_index_before(index, start, &before) == 0; i++) {
    if (is_name_of(told, &before)) return start - before.start >= before.size;
    start = before.start;
  }
  return false;
}

bool false_name_is(const struct symbol_index *index, uint64_t address,
                   const struct symbol_frame *told) {
  struct symbol_frame chain[SYMBOL_CHAIN_MAX];
  struct symbol_match symbol;
  if (told->file != NULL) return false;
  int count = symbol_index_chain(index, address, chain);
  if (count <= 0 || symbol_index_find(index, address, &symbol) != 0) return false;
  const struct symbol_frame *function = &chain[count - 1];
  if (function->name[0] == '\0') return is_of_one_before(index, function->start, told->name, 1);
  for (int i = 0; i < count; i++)
    if (is_name_of(told->name, &chain[i])) return false;
  if (is_name(told->name, symbol.name) || is_clone_of(told->name, symbol.name)) return false;
  return is_of_one_before(index, function->start, told->name, NAMES_BACK_MAX);
}
