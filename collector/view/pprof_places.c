/* SPDX-License-Identifier: Apache-2.0 */
/* In profile.proto a location is an address, with a line for each function inlined there, the
   innermost first. Functions have files, lines do not.

     tree: main > walk (inlined) > read (inlined)     location: read, walk, main

   Nodes inlined into each other form one location, since they have one address. To share equal
   locations of different stacks, a location is identified by its innermost place and the location
   that this is inlined into. */
#include "pprof_places.h"

#include "common/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pprof_places_init(struct pprof_places *places, const struct view_tree *tree,
                      struct arena *arena) {
  *places = (struct pprof_places){.tree = tree, .function_count = 1, .location_count = 1};
  places->of_node = arena_array(arena, tree->node_count, sizeof *places->of_node);
  places->chain = arena_array(arena, tree->node_count, sizeof *places->chain);
  places->functions = calloc(1, sizeof *places->functions);
  places->locations = calloc(1, sizeof *places->locations);
  places->function_room = places->location_room = 1;
  bool is_whole = places->of_node && places->chain && places->functions && places->locations;
  return is_whole ? 0 : -ENOMEM;
}

void pprof_places_fini(struct pprof_places *places) {
  table_fini(&places->by_function);
  table_fini(&places->by_place);
  free(places->functions);
  free(places->locations);
}

/* Returns whether the name is only an address: MODULE+0x... */
static bool is_nameless(const struct view_function *function) {
  size_t len = strlen(function->module);
  return strncmp(function->name, function->module, len) == 0 &&
         strncmp(function->name + len, "+0x", 3) == 0;
}

static bool is_same_file(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static uint32_t add_function(struct pprof_places *places, uint64_t key,
                             const struct pprof_function *function) {
  if (places->function_count == places->function_room) {
    struct pprof_function *more =
        reallocarray(places->functions, places->function_room * 2, sizeof *more);
    if (more == NULL) return 0;
    places->functions = more;
    places->function_room *= 2;
  }
  if (table_add(&places->by_function, key, places->function_count) != 0) return 0;
  places->functions[places->function_count] = *function;
  return places->function_count++;
}

static uint32_t find_function(struct pprof_places *places, uint32_t at, const char *file) {
  const struct view_function *function = &places->tree->functions[at];
  if (file == NULL) file = function->file;
  uint64_t key = table_hash(&at, sizeof at, 0);
  uint32_t cursor, found = table_find(&places->by_function, key, &cursor);
  for (; found != TABLE_NONE; found = table_next(&places->by_function, key, &cursor))
    if (places->functions[found].function == at &&
        is_same_file(places->functions[found].file, file))
      return found;
  struct pprof_function mine = {.function = at, .file = file};
  if (is_same_file(file, function->file)) mine.start_line = function->line;
  mine.has = (is_nameless(function) ? 0 : PPROF_HAS_NAMES) | (file ? PPROF_HAS_FILES : 0);
  return add_function(places, key, &mine);
}

static uint32_t find_location(struct pprof_places *places, const struct pprof_place *wanted) {
  uint64_t key = table_hash(wanted, sizeof *wanted, 0);
  uint32_t cursor, at = table_find(&places->by_place, key, &cursor);
  for (; at != TABLE_NONE; at = table_next(&places->by_place, key, &cursor))
    if (memcmp(&places->locations[at], wanted, sizeof *wanted) == 0) return at;
  if (places->location_count == places->location_room) {
    struct pprof_place *more =
        reallocarray(places->locations, places->location_room * 2, sizeof *more);
    if (more == NULL) return 0;
    places->locations = more;
    places->location_room *= 2;
  }
  if (table_add(&places->by_place, key, places->location_count) != 0) return 0;
  places->locations[places->location_count] = *wanted;
  return places->location_count++;
}

uint32_t pprof_places_location(struct pprof_places *places, uint32_t node) {
  const struct view_node *nodes = places->tree->nodes;
  uint32_t depth = 0, outer = 0;
  for (uint32_t at = node; at != 0; at = nodes[at].parent) {
    outer = places->of_node[at];
    if (outer != 0) break;
    places->chain[depth++] = at;
    if (!nodes[at].is_inlined) break;
  }
  while (depth > 0) {
    uint32_t at = places->chain[--depth];
    const struct view_place *place = &places->tree->places[nodes[at].place];
    struct pprof_place wanted = {
        .line = place->line, .outer = outer, .build = place->build, .address = place->address};
    wanted.function = find_function(places, nodes[at].function, place->file);
    outer = wanted.function > 0 ? find_location(places, &wanted) : 0;
    if (outer == 0) places->failed = true;
    places->of_node[at] = outer;
  }
  return outer;
}
