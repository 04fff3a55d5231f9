/* SPDX-License-Identifier: Apache-2.0 */
/* Which modules of two trees are one program, or one library, under two file names. */
#ifndef VIEW_MODULE_PAIRS_H
#define VIEW_MODULE_PAIRS_H

#include "common/table.h"
#include "view.h"

struct paired_module;

struct module_pairs {
  uint64_t seed;        /* of the hashes: strangers choose what is hashed */
  struct table by_name; /* of MODULES, those of both trees */
  struct paired_module *modules;
  uint32_t count;
};

/* Looks for the pairs of A and B, all in ARENA:

   - what one service runs on either side, one file each;
   - names that differ in a version alone: in a number with dots (app-1.4 and app-1.5,
     libpython3.11.so.1.0 and libpython3.12.so.1.0) or the one after ".so.".

   A module that both sides have is itself, and nothing else, unless one side has other versions of
   it, too: an update under way is all of them.  Returns 0 or -errno; fini in either case. */
int module_pairs_init(struct module_pairs *pairs, const struct view_tree *a,
                      const struct view_tree *b, struct arena *arena);
void module_pairs_fini(struct module_pairs *pairs);

/* Returns what MODULE of either tree is called: "old -> new", "app-*" for several versions of a
   side, or MODULE itself where it is no pair's. */
const char *module_pairs_shown(const struct module_pairs *pairs, const char *module);

#endif
