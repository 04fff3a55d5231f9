/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a linker's map (-Map) as a list of symbols: in the form of GNU ld and gold, and of LLD. */
#ifndef COMMON_LINKER_MAP_H
#define COMMON_LINKER_MAP_H

#include "symbol_line.h"

enum linker_map_form { LINKER_MAP_NONE, LINKER_MAP_GNU, LINKER_MAP_LLD };

/* A part of the program from one place. */
struct linker_section {
  uint64_t start, size;
  struct span name, file;
};

/* The state of a reading. */
struct linker_map {
  struct span rest; /* borrowed */
  enum linker_map_form form;
  bool has_begun;         /* GNU: the headings before the map itself were read */
  bool has_lma, is_thumb; /* LLD: an extra column; code addresses with the Thumb bit */
  bool is_out;            /* PENDING is an output section, not an input section */
  struct span pending;    /* GNU: the name of a section with its numbers on the next line */
  struct linker_section out, in;
};

/* True if BYTES, the beginning of a file, may be a linker's map. Pure. */
bool linker_map_is(struct span bytes);

/* Begins to read TEXT, for which linker_map_is is true. */
void linker_map_begin(struct span text, struct linker_map *ret);

/* Finds the next symbol, in the order of the text. Its size is as in the map, or up to the end of
   its section. Type is T in code, t if only a section's name implies it, D elsewhere. Its module is
   the object file; the name is from TEXT, or "[plt]". Returns 0, or -ENOENT if there is no more.
   Pure. */
int linker_map_next(struct linker_map *map, struct symbol_line *ret);

#endif
