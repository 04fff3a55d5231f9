/* SPDX-License-Identifier: Apache-2.0 */
/* Finds modules of two trees that are one program or library under two file names. */
#ifndef VIEW_MODULE_PAIRS_H
#define VIEW_MODULE_PAIRS_H

#include "common/table.h"
#include "view.h"

struct paired_module;

struct module_pairs {
  uint64_t seed;        /* of the hashes: boards choose the hashed names */
  struct table by_name; /* of MODULES, from both trees */
  struct paired_module *modules;
  uint32_t count;
};

/* Finds the pairs of A and B; all memory is in ARENA:
   - the programs of one service, one file on each side;
   - names that differ only in a version: in a number with dots (app-1.4 and app-1.5,
     libpython3.11.so.1.0 and libpython3.12.so.1.0) or in the number after ".so.".
   A module on both sides is not paired, unless one side also has other versions of it: an update in
   progress comprises all of them. Returns 0 or -errno; call fini in either case. */
int module_pairs_init(struct module_pairs *pairs, const struct view_tree *a,
                      const struct view_tree *b, struct arena *arena);
void module_pairs_fini(struct module_pairs *pairs);

/* Returns the display name of MODULE: "old -> new", "app-*" for several versions on a side, or
   MODULE itself if it is not paired. */
const char *module_pairs_shown(const struct module_pairs *pairs, const char *module);

#endif
