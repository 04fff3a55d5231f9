/* SPDX-License-Identifier: Apache-2.0 */
/* The locations and functions of a profile.proto. */
#ifndef VIEW_PPROF_PLACES_H
#define VIEW_PPROF_PLACES_H

#include "common/table.h"
#include "view.h"

enum pprof_has {
  PPROF_HAS_NAMES = 1,
  PPROF_HAS_FILES = 2,
  PPROF_HAS_LINES = 4,
  PPROF_HAS_INLINES = 8,
};

/* The part of a function that is in one file. */
struct pprof_function {
  uint32_t function;   /* of the tree */
  const char *file;    /* or NULL */
  uint32_t start_line; /* 0: unknown, or in another file */
  uint32_t has;        /* enum pprof_has: names, files */
};

struct pprof_place {
  uint32_t function; /* index of pprof_places.functions */
  uint32_t line;     /* 0: unknown */
  uint32_t outer;    /* the location that it is inlined into; 0: none */
  uint32_t build;    /* of the tree; 0: unknown, and so is the address */
  uint64_t address;
};

struct pprof_places {
  const struct view_tree *tree;
  struct table by_function, by_place;
  struct pprof_function *functions; /* indices are ids; 0 is unused */
  struct pprof_place *locations;    /* the same */
  uint32_t function_count, function_room, location_count, location_room;
  uint32_t *of_node; /* its location; 0: not yet requested */
  uint32_t *chain;   /* nodes inlined into each other */
  bool failed;       /* memory was short; every later result is 0 */
};

/* Starts without locations. Borrows TREE and ARENA. Returns 0 or -ENOMEM; call fini in either
   case. */
int pprof_places_init(struct pprof_places *places, const struct view_tree *tree,
                      struct arena *arena);
void pprof_places_fini(struct pprof_places *places);

/* Returns the location of NODE: its place and the places that it is inlined into. Returns 0 if
   memory is short. */
uint32_t pprof_places_location(struct pprof_places *places, uint32_t node);

#endif
