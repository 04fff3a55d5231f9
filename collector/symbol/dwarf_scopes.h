/* SPDX-License-Identifier: Apache-2.0 */
/* Whole names of C++ functions that debug information has only short ones of.  Pure. */
#ifndef SYMBOL_DWARF_SCOPES_H
#define SYMBOL_DWARF_SCOPES_H

#include "common/arena.h"
#include "common/span.h"
#include "common/table.h"

#include <elfutils/libdw.h>

struct scoped_name;
struct scoped_class;
struct symbol_set;

enum { SCOPE_BYTES_MAX = 1024 }; /* of namespaces, classes and functions around a function */
#define SCOPE_TEXTS_BYTES_MAX (32ULL << 20)

/* All-zero is a valid empty one. */
struct dwarf_scopes {
  struct arena texts;
  bool has_texts;
  struct table by_place; /* of a function's name -> number of what is known of it */
  struct table symbols;  /* start -> candidate */
  bool has_symbols;
  struct scoped_name *names;
  uint32_t count, room;
  uint32_t first_of_unit; /* in names */
  struct table by_class; /* place of a class of the unit -> what is around it */
  struct scoped_class *classes;
  uint32_t class_count, class_room;
  bool is_walked;       /* all classes of the unit are known */
  struct table by_kind; /* of what has no name, and what is around it, in one unit -> */
  uint32_t *numbers;    /* how many there were so far */
  uint32_t kind_count, kind_room;
};

void dwarf_scopes_fini(struct dwarf_scopes *scopes);

/* Notes, where the unit of UNIT, of DIES_MAX entries at most, is of C++, what is around its
   functions and what their symbols are.  SET has the file's own symbols and what earlier units
   told.  What is malformed or over a limit is left out.  Returns 0 or -ENOMEM. */
int dwarf_scopes_read(struct dwarf_scopes *scopes, const struct symbol_set *set, Dwarf_Die *unit,
                      uint64_t dies_max);

/* Puts together all names of the unit that was read last, for units that refer to it. */
void dwarf_scopes_complete(struct dwarf_scopes *scopes);

/* The whole name of the function whose SHORT_NAME stands in the entry at PLACE in libdw's memory,
   and which has no linkage name; SHORT_NAME itself where nothing more is known.  Valid until
   dwarf_scopes_fini. */
const char *dwarf_scopes_name(struct dwarf_scopes *scopes, const void *place,
                              const char *short_name);

#endif
