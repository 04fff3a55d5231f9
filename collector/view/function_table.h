/* SPDX-License-Identifier: Apache-2.0 */
/* Each function once. Two functions are equal if name, module and source file are (function_table.c
   defines equal files) and their stack ends agree. Functions without a name must also be of one
   build. */
#ifndef VIEW_FUNCTION_TABLE_H
#define VIEW_FUNCTION_TABLE_H

#include "common/table.h"
#include "module_builds.h"
#include "view.h"

#include <stdbool.h>

enum { VIEW_FUNCTIONS_MAX = 2 << 20 };

struct function_table {
  struct arena *arena;  /* for copied texts */
  uint64_t seed;        /* of the hashes: boards choose the hashed names */
  struct table by_name; /* name, module and source file -> function */
  struct view_function *functions;
  uint32_t count, room;
  struct table by_family; /* name and module -> family */
  struct function_family *families;
  uint32_t family_count, family_room;
  struct module_builds builds; /* of named functions */
};

/* Starts with one function, index 0, named "root". Returns 0 or -errno. */
int function_table_init(struct function_table *functions, struct arena *arena);
void function_table_fini(struct function_table *functions);

/* Returns the hash of WORDS under the table's seed. */
uint64_t function_table_hash(const struct function_table *functions, const void *words, size_t len);

/* Finds WANTED or adds it. A function without a known file gets WANTED's file and line. The module
   is copied; the name too, unless IS_LASTING (it outlives the table). The file always outlives the
   table. Returns 0, -EOVERFLOW over VIEW_FUNCTIONS_MAX, or -ENOMEM. */
int function_table_intern(struct function_table *functions, const struct view_function *wanted,
                          bool is_lasting, uint32_t *ret);

/* Call when all functions are added. Appends the build to names of unnamed functions if their
   module has several. Returns 0 or -ENOMEM. */
int function_table_tell_builds(struct function_table *functions);

#endif
