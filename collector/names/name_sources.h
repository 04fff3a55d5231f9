/* SPDX-License-Identifier: Apache-2.0 */
/* The files that name one module, best first, and the choice among them for an address. */
#ifndef NAMES_NAME_SOURCES_H
#define NAMES_NAME_SOURCES_H

#include "debug_store.h"
#include "symbol/symbol_index.h"

struct name_source {
  enum debug_quality quality;
  const struct symbol_index *index;
};

struct name_sources {
  struct name_source sources[DEBUG_SOURCES_MAX]; /* by descending quality */
  uint32_t count;
};

/* Finds the functions at ADDRESS as symbol_index_chain does, and the quality of the file that named
   them. For DEBUG_BOUNDS the one function's name is "". Returns their number or -ENOENT. Pure. */
int name_sources_chain(const struct name_sources *sources, uint64_t address,
                       struct symbol_frame frames[SYMBOL_CHAIN_MAX],
                       enum debug_quality *ret_quality);

/* Whether any of SOURCES contradicts TOLD, a translator's answer for ADDRESS (false_name.h). Any
   thread. */
bool name_sources_refute(const struct name_sources *sources, uint64_t address,
                         const struct symbol_frame *told);

/* Whether TOLD is an alias, in any of SOURCES, of the function at ADDRESS (alias_name.h). Any
   thread. */
bool name_sources_has_alias(const struct name_sources *sources, uint64_t address,
                            const struct symbol_frame *told);

/* For many lookups in one module: caches the position in each file. One thread. */
struct name_cursor {
  const struct name_sources *sources; /* borrowed */
  struct symbol_cursor cursors[DEBUG_SOURCES_MAX];
};

void name_cursor_init(struct name_cursor *cursor, const struct name_sources *sources);

/* As name_sources_chain; fastest with ascending addresses. */
int name_cursor_chain(struct name_cursor *cursor, uint64_t address,
                      struct symbol_frame frames[SYMBOL_CHAIN_MAX],
                      enum debug_quality *ret_quality);

#endif
