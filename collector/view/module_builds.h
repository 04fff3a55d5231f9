/* SPDX-License-Identifier: Apache-2.0 */
/* The builds of modules: a list by name, and whether a name has several. */
#ifndef VIEW_MODULE_BUILDS_H
#define VIEW_MODULE_BUILDS_H

#include "common/span.h"
#include "common/table.h"
#include "view.h"

struct module_builds {
  struct arena *arena;   /* for the modules and their names */
  uint64_t seed;         /* of the hashes: boards choose the hashed names */
  struct table by_build; /* name and build-id -> module */
  struct table by_name;  /* name -> its first module */
  struct view_module **modules;
  uint32_t count, room;
};

void module_builds_init(struct module_builds *builds, struct arena *arena, uint64_t seed);
void module_builds_fini(struct module_builds *builds);

/* Finds build ID of module NAME or adds it. RET is a stable pointer, or NULL for a module without
   an id or with an id over LIMIT_MODULE_ID_BYTES. Returns 0 or -ENOMEM. */
int module_builds_find(struct module_builds *builds, const char *name, struct span id,
                       const struct view_module **ret);

/* Returns whether module NAME has several builds. */
bool module_builds_are_several(const struct module_builds *builds, const char *name);

/* Returns whether A and B are of one build, by build-id and not by name, or are both NULL. */
bool module_builds_are_same(const struct view_module *a, const struct view_module *b);

/* Returns NAME, of an unnamed function of MODULE, with the beginning of its build-id, in ARENA;
   NULL if memory is short. */
const char *module_builds_told(const struct view_module *module, const char *name,
                               struct arena *arena);

/* Returns whether ASKED denotes FUNCTION, which has no name: with its build-id or without, and
   whether FUNCTION's own name includes it (is_apart) or not. */
bool module_builds_means(const struct view_function *function, const char *asked);

#endif
