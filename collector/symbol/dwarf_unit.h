/* SPDX-License-Identifier: Apache-2.0 */
/* One unit of debug information at a time: its functions, and its lines. */
#ifndef SYMBOL_DWARF_UNIT_H
#define SYMBOL_DWARF_UNIT_H

#include "dwarf_scopes.h"
#include "source_map.h"
#include "unit_rows.h"

#include <elfutils/libdw.h>

struct symbol_set;

struct code_range {
  uint64_t start, end;
};

/* State shared by all units. */
struct dwarf_context {
  struct index_names *names;
  struct source_map *map;
  struct symbol_set *set;
  struct unit_rows rows;         /* of the current unit */
  const struct code_range *code; /* executable sections, by start */
  size_t code_count;
  struct dwarf_scopes *scopes; /* borrowed */
  struct table functions;      /* place of a function's description -> number in the map */
  Dwarf_CU *skeleton;          /* of the current split unit; or NULL */
  uint64_t range_base;         /* base of its .debug_ranges */
  struct buf path;
  struct table files; /* place of a path in libdw's memory -> number in the map */
  uint32_t nameless;  /* functions with names in another file */
  uint32_t malformed; /* units that were left half-read */
  uint32_t split;     /* units with functions in missing .dwo files */
};

/* Returns the executable section that contains ADDRESS, or NULL. */
const struct code_range *dwarf_context_find_code(const struct dwarf_context *context,
                                                 uint64_t address);

/* Adds the source file PATH, in libdw's memory, of the unit CU and sets RET to its number; 0 for
   NULL. */
int dwarf_context_add_file(struct dwarf_context *context, Dwarf_CU *cu, const char *path,
                           uint32_t *ret);

/* Adds the functions of the unit of UNIT, which has at most DIES_MAX entries, to the map, and their
   ranges to CONTEXT->rows. Returns 0, -EOVERFLOW or -ENOMEM. Malformed units are counted. */
int dwarf_functions_read(struct dwarf_context *context, Dwarf_Die *unit, uint64_t dies_max);

/* Adds the lines of the unit of UNIT to CONTEXT->rows. Returns as dwarf_functions_read. */
int dwarf_lines_read(struct dwarf_context *context, Dwarf_Die *unit);

#endif
