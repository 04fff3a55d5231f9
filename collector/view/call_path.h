/* SPDX-License-Identifier: Apache-2.0 */
/* A stack without recursion: a path of real calls on which no place occurs twice. */
#ifndef VIEW_CALL_PATH_H
#define VIEW_CALL_PATH_H

#include "view.h"

/* A function on the path. LEVEL 1 is its outermost call in the stack, which always exists. */
struct call_place {
  uint32_t function, level;
  uint32_t before; /* 1 + index of the same function's place one level below; 0: none */
  uint32_t firsts; /* number of places of level 1 up to here */
  uint32_t node;   /* of the tree: where the path continues or ends */
};

/* Reused for all stacks. */
struct call_path {
  struct call_place *places; /* outermost first */
  uint32_t count;
  uint32_t *latest; /* per function: 1 + index of its last place; 0: none */
  uint32_t *nodes;  /* of the stack, leaf first */
};

/* Allocates room in ARENA for any stack of TREE. Returns 0 or -ENOMEM. */
int call_path_init(struct call_path *path, const struct view_tree *tree, struct arena *arena);

/* Sets PATH to the stack of TREE that ends in LEAF. Its last place is the leaf's function. */
void call_path_set(struct call_path *path, const struct view_tree *tree, uint32_t leaf);

#endif
