/* SPDX-License-Identifier: Apache-2.0 */
/* Full names of C++ functions for which debug information has only short names. Pure. */
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
  struct table by_place; /* of a function's name -> number in names */
  struct table symbols;  /* start -> candidate */
  bool has_symbols;
  struct scoped_name *names;
  uint32_t count, room;
  uint32_t first_of_unit; /* in names */
  struct table by_class;  /* place of a class of the unit -> its scope */
  struct scoped_class *classes;
  uint32_t class_count, class_room;
  bool is_walked;       /* all classes of the unit are known */
  struct table by_kind; /* nameless class kind and scope, in one unit -> in numbers */
  uint32_t *numbers;    /* classes counted so far */
  uint32_t kind_count, kind_room;
};

void dwarf_scopes_fini(struct dwarf_scopes *scopes);

/* If UNIT, of at most DIES_MAX entries, is C++, notes the scopes and symbols of its functions. SET
   has the file's own symbols and those of earlier units. Malformed entries and entries over a limit
   are left out. Returns 0 or -ENOMEM. */
int dwarf_scopes_read(struct dwarf_scopes *scopes, const struct symbol_set *set, Dwarf_Die *unit,
                      uint64_t dies_max);

/* Builds all names of the unit that was read last, for units that refer to it. */
void dwarf_scopes_complete(struct dwarf_scopes *scopes);

/* Returns the full name of a function without a linkage name. Its SHORT_NAME stands in the entry at
   PLACE in libdw's memory. Returns SHORT_NAME itself if no more is known. Valid until
   dwarf_scopes_fini. */
const char *dwarf_scopes_name(struct dwarf_scopes *scopes, const void *place,
                              const char *short_name);

#endif
