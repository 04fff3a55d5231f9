/* SPDX-License-Identifier: Apache-2.0 */
/* The map that a linker writes (-Map), as a list of symbols: GNU ld's and gold's form, and LLD's.
 */
#ifndef COMMON_LINKER_MAP_H
#define COMMON_LINKER_MAP_H

#include "symbol_line.h"

enum linker_map_form { LINKER_MAP_NONE, LINKER_MAP_GNU, LINKER_MAP_LLD };

/* A piece of the program that came from one place. */
struct linker_section {
  uint64_t start, size;
  struct span name, file;
};

/* Where a reading stands. */
struct linker_map {
  struct span rest; /* borrowed */
  enum linker_map_form form;
  bool has_begun;         /* GNU: the headings before the map itself are behind us */
  bool has_lma, is_thumb; /* LLD: a column more; code addresses with a bit that says Thumb */
  bool is_out;            /* what PENDING is: an output section, not an input section */
  struct span pending;    /* GNU: the name of a section whose numbers are on the next line */
  struct linker_section out, in;
};

/* True when BYTES, the beginning of a file, may be a linker's map.  Pure. */
bool linker_map_is(struct span bytes);

/* Begins to read TEXT, which linker_map_is. */
void linker_map_begin(struct span text, struct linker_map *ret);

/* Finds the next symbol, in the order of the text.  Its size is what the map says, else it reaches
   to the end of its section; type is T in code, t where only a section's name tells of it, D
   elsewhere; its module is the object file; the name is TEXT's, or "[plt]".  Returns 0, or -ENOENT
   when there is no more.  Pure. */
int linker_map_next(struct linker_map *map, struct symbol_line *ret);

#endif
