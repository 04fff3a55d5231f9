/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of callgrind's format compute a function's inclusive cost from its calls: some add up the
   calls it made, others the calls it received. Both agree only if a stack passes through each
   function once. So recursion must be removed, without inventing calls.

   A call of a function that is already on the path closes a loop. If every function of the loop is
   also on the path outside it, the loop is cut out: the remaining calls are real, and no function
   loses the stack. Otherwise the function is entered again, under the name that callgrind itself
   uses, NAME'2:

     main > walk > walk > walk > read      main > walk > read
     main > tree > leaf > tree > read      main > tree > leaf > tree'2 > read

   So the plain name of a function includes each stack that contains it exactly once. */
#include "call_path.h"

#include "common/arena.h"

#include <errno.h>

int call_path_init(struct call_path *path, const struct view_tree *tree, struct arena *arena) {
  path->count = 0;
  path->places = arena_array(arena, tree->node_count, sizeof *path->places);
  path->nodes = arena_array(arena, tree->node_count, sizeof *path->nodes);
  path->latest = arena_array(arena, tree->function_count, sizeof *path->latest);
  return path->places && path->nodes && path->latest ? 0 : -ENOMEM;
}

static void cut_to(struct call_path *path, uint32_t count) {
  for (; path->count > count; path->count--) {
    const struct call_place *last = &path->places[path->count - 1];
    path->latest[last->function] = last->before;
  }
}

static void enter(struct call_path *path, uint32_t function, uint32_t node) {
  uint32_t before = path->latest[function];
  const struct call_place *places = path->places;
  uint32_t firsts = path->count > 0 ? places[path->count - 1].firsts : 0;
  if (before > 0 && places[before - 1].firsts == firsts) {
    cut_to(path, before);
    path->places[before - 1].node = node;
    return;
  }
  path->places[path->count++] =
      (struct call_place){.function = function,
                          .level = before > 0 ? places[before - 1].level + 1 : 1,
                          .before = before,
                          .firsts = firsts + (before == 0),
                          .node = node};
  path->latest[function] = path->count;
}

void call_path_set(struct call_path *path, const struct view_tree *tree, uint32_t leaf) {
  uint32_t depth = 0;
  cut_to(path, 0);
  for (uint32_t at = leaf; at != 0; at = tree->nodes[at].parent) path->nodes[depth++] = at;
  while (depth-- > 0) enter(path, tree->nodes[path->nodes[depth]].function, path->nodes[depth]);
}
