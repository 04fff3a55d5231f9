/* SPDX-License-Identifier: Apache-2.0 */
/* A module may have been sent as the stripped file, as its debug file, and as a list of symbols.
   Each has names that the others lack. The debug file has inlined functions and lines; the stripped
   file has its procedure linkage table; the list has the local functions of a program without its
   debug file. So the order is applied for each address, not for each module: the first file with a
   name for it is used.

     debug information  >  symbol table  >  exported symbols  >  list  >  bounds without a name

   A list ranks below exported symbols. Those are the module's own bytes, proven by its build-id,
   while a list is unverified, and its functions reach up to the next one. For the same reason a
   list is not used for gaps of a symbol table: those are no functions.

   A debug file has the address of the linkage table but not its contents, so [plt] is used only if
   no file names the stub. */
#include "name_sources.h"

#include "symbol/alias_name.h"
#include "symbol/false_name.h"

#include <errno.h>
#include <string.h>

/* CURSORS: one for each file, or NULL. */
static int find_chain(const struct name_sources *sources, struct symbol_cursor *cursors,
                      uint64_t address, struct symbol_frame *frames,
                      enum debug_quality *ret_quality) {
  struct symbol_frame bounds = {.name = NULL}, table = {.name = NULL};
  enum debug_quality table_quality = DEBUG_NONE;
  bool is_whole = false;
  for (uint32_t i = 0; i < sources->count; i++) {
    const struct name_source *source = &sources->sources[i];
    if (source->quality == DEBUG_MAP && is_whole) continue;
    is_whole |= source->quality >= DEBUG_SYMTAB;
    int count = cursors != NULL ? symbol_cursor_chain(&cursors[i], address, frames)
                                : symbol_index_chain(source->index, address, frames);
    if (count <= 0) continue;
    if (i + 1 < sources->count && strcmp(frames[count - 1].name, "[plt]") == 0) {
      if (table.name == NULL) table = frames[count - 1], table_quality = source->quality;
      continue;
    }
    if (frames[count - 1].name[0] != '\0') {
      *ret_quality = source->quality;
      return count;
    }
    if (bounds.name == NULL) bounds = frames[count - 1];
  }
  if (table.name != NULL) {
    frames[0] = table;
    *ret_quality = table_quality;
    return 1;
  }
  if (bounds.name == NULL) return -ENOENT;
  frames[0] = bounds;
  *ret_quality = DEBUG_BOUNDS;
  return 1;
}

int name_sources_chain(const struct name_sources *sources, uint64_t address,
                       struct symbol_frame frames[SYMBOL_CHAIN_MAX],
                       enum debug_quality *ret_quality) {
  return find_chain(sources, NULL, address, frames, ret_quality);
}

bool name_sources_refute(const struct name_sources *sources, uint64_t address,
                         const struct symbol_frame *told) {
  for (uint32_t i = 0; i < sources->count; i++)
    if (false_name_is(sources->sources[i].index, address, told)) return true;
  return false;
}

bool name_sources_has_alias(const struct name_sources *sources, uint64_t address,
                            const struct symbol_frame *told) {
  for (uint32_t i = 0; i < sources->count; i++)
    if (alias_name_is(sources->sources[i].index, address, told)) return true;
  return false;
}

void name_cursor_init(struct name_cursor *cursor, const struct name_sources *sources) {
  cursor->sources = sources;
  for (uint32_t i = 0; i < sources->count; i++)
    symbol_cursor_init(&cursor->cursors[i], sources->sources[i].index);
}

int name_cursor_chain(struct name_cursor *cursor, uint64_t address,
                      struct symbol_frame frames[SYMBOL_CHAIN_MAX],
                      enum debug_quality *ret_quality) {
  return find_chain(cursor->sources, cursor->cursors, address, frames, ret_quality);
}
