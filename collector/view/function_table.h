/* SPDX-License-Identifier: Apache-2.0 */
/* Each function once.  Two are the same when name, module and source file are (function_table.c
   says when files are), and both or none say how a stack ended; of those without a name only when
   they are of one build. */
#ifndef VIEW_FUNCTION_TABLE_H
#define VIEW_FUNCTION_TABLE_H

#include "common/table.h"
#include "module_builds.h"
#include "view.h"

#include <stdbool.h>

enum { VIEW_FUNCTIONS_MAX = 2 << 20 };

struct function_table {
  struct arena *arena;  /* for the texts that are kept */
  uint64_t seed;        /* of the hashes: strangers choose what is hashed */
  struct table by_name; /* name, module and source file -> function */
  struct view_function *functions;
  uint32_t count, room;
  struct table by_family; /* name and module -> family */
  struct function_family *families;
  uint32_t family_count, family_room;
  struct module_builds builds; /* that functions were named in */
};

/* Starts with one function, index 0, called "root".  Returns 0 or -errno. */
int function_table_init(struct function_table *functions, struct arena *arena);
void function_table_fini(struct function_table *functions);

/* Returns the hash of WORDS under the table's seed. */
uint64_t function_table_hash(const struct function_table *functions, const void *words, size_t len);

/* Finds WANTED or adds it; a function whose file was not known yet gets WANTED's file and line. Its
   module is copied; its name too unless it outlives the table (IS_LASTING); its file always
   outlives it.  Returns 0, -EOVERFLOW over VIEW_FUNCTIONS_MAX, or -ENOMEM. */
int function_table_intern(struct function_table *functions, const struct view_function *wanted,
                          bool is_lasting, uint32_t *ret);

/* All functions are there: those without a name are called by their build, too, where their module
   has several.  Returns 0 or -ENOMEM. */
int function_table_tell_builds(struct function_table *functions);

#endif
