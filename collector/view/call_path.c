/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of callgrind's form make a function's inclusive cost of its calls: one adds up what it
   called, another what it was called with.  Both are right only when a stack passes through each
   function once, so recursion has to go, and no call may be made up for it.

   A call of a function that is on the path already closes a loop.  A loop in which every function
   is on the path outside of it, too, is cut out: what is left are calls that happened, and nobody
   loses the stack.  Where that would lose one, the function is entered a second time under the name
   that callgrind gives it by itself, NAME'2:

     main > walk > walk > walk > read      main > walk > read
     main > tree > leaf > tree > read      main > tree > leaf > tree'2 > read

   So the plain name of a function has each stack that it is in exactly once. */
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
