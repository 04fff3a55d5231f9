/* SPDX-License-Identifier: Apache-2.0 */
/* The builds of modules: which there are of each name, and whether a name has several. */
#ifndef VIEW_MODULE_BUILDS_H
#define VIEW_MODULE_BUILDS_H

#include "common/span.h"
#include "common/table.h"
#include "view.h"

struct module_builds {
  struct arena *arena;   /* for the modules and their names */
  uint64_t seed;         /* of the hashes: strangers choose what is hashed */
  struct table by_build; /* name and build-id -> module */
  struct table by_name;  /* name -> the first module of it */
  struct view_module **modules;
  uint32_t count, room;
};

void module_builds_init(struct module_builds *builds, struct arena *arena, uint64_t seed);
void module_builds_fini(struct module_builds *builds);

/* Finds build ID of module NAME or adds it; RET stays where it is.  NULL: a module without an id,
   or with one over LIMIT_MODULE_ID_BYTES.  Returns 0 or -ENOMEM. */
int module_builds_find(struct module_builds *builds, const char *name, struct span id,
                       const struct view_module **ret);

/* Whether there are several builds of module NAME. */
bool module_builds_are_several(const struct module_builds *builds, const char *name);

/* Whether A and B, or neither, are of one build, whatever it is called. */
bool module_builds_are_same(const struct view_module *a, const struct view_module *b);

/* Returns NAME, of a function of MODULE without a name, with the beginning of its build-id; in
   ARENA, or NULL without memory. */
const char *module_builds_told(const struct view_module *module, const char *name,
                               struct arena *arena);

/* Whether ASKED is what FUNCTION, which has no name, is called: with its build or without, whether
   its name tells that (is_apart) or not. */
bool module_builds_means(const struct view_function *function, const char *asked);

#endif
