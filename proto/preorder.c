/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon makes nodes in the order in which stacks arrive. In depth-first order they compress
   better, because one small number for each node (the levels up to the next one's parent) encodes
   the whole shape. Siblings are sorted by module and address, so that addresses grow in small
   steps. That saves 7 % of the bytes of a server's profile, for a sort that costs little beside the
   compression. It also makes the bytes of a tree independent of the order in which it grew.

   Children are linked as lists (first child, next sibling), filled in sorted order. The walk then
   goes down, aside or up by these links alone. No recursion, no stack: the shape of the tree is
   untrusted. */
#include "preorder.h"
#include "limits.h"
#include "pack.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert(LIMIT_STACK_DEPTH <= UINT8_MAX, "depths fit one byte");

struct links {
  uint32_t first_root;
  uint32_t *first_child;
  uint32_t *next_sibling;
};

/* A node in the list of all nodes, which includes its siblings. */
struct sibling {
  uint64_t address;
  uint32_t module;
  uint32_t node;
};

/* Descending, with the caller's order last: lists filled from the front become ascending. */
static int compare(const void *a, const void *b) {
  const struct sibling *left = a, *right = b;
  if (left->module != right->module) return left->module > right->module ? -1 : 1;
  if (left->address != right->address) return left->address > right->address ? -1 : 1;
  return left->node > right->node ? -1 : 1;
}

static void link_children(struct pack *pack, const struct batch *batch, struct links *links) {
  struct sibling *sorted = pack_array(pack, batch->node_count, sizeof *sorted);
  for (uint32_t i = 0; pack->error == 0 && i < batch->node_count; i++) {
    const struct batch_node *node = &batch->nodes[i];
    if (node->parent != BATCH_NONE && node->parent >= i) pack_fail(pack, -EINVAL);
    sorted[i] = (struct sibling){node->address, node->module, i};
    links->first_child[i] = BATCH_NONE;
  }
  if (pack->error != 0) return;
  qsort(sorted, batch->node_count, sizeof *sorted, compare);
  for (uint32_t i = 0; i < batch->node_count; i++) {
    uint32_t node = sorted[i].node, parent = batch->nodes[node].parent;
    uint32_t *first = parent == BATCH_NONE ? &links->first_root : &links->first_child[parent];
    links->next_sibling[node] = *first;
    *first = node;
  }
}

/* Returns the node that the walk visits after NODE. */
static uint32_t step(const struct batch *batch, const struct links *links, uint32_t node,
                     unsigned *depth) {
  if (links->first_child[node] != BATCH_NONE) {
    ++*depth;
    return links->first_child[node];
  }
  while (links->next_sibling[node] == BATCH_NONE) {
    node = batch->nodes[node].parent;
    if (node == BATCH_NONE) return BATCH_NONE;
    --*depth;
  }
  return links->next_sibling[node];
}

void preorder_make(struct pack *pack, const struct batch *batch, struct preorder *ret) {
  uint32_t count = batch->node_count;
  struct links links = {.first_root = BATCH_NONE};
  links.first_child = pack_array(pack, count, sizeof *links.first_child);
  links.next_sibling = pack_array(pack, count, sizeof *links.next_sibling);
  uint32_t *sources = pack_array(pack, count, sizeof *sources);
  uint32_t *places = pack_array(pack, count, sizeof *places);
  uint8_t *depths = pack_array(pack, count, sizeof *depths);
  if (pack->error == 0) link_children(pack, batch, &links);
  if (pack->error != 0) return;
  unsigned depth = 0;
  uint32_t place = 0;
  for (uint32_t node = links.first_root; node != BATCH_NONE;
       node = step(batch, &links, node, &depth)) {
    if (depth >= LIMIT_STACK_DEPTH) {
      pack_fail(pack, -EOVERFLOW);
      return;
    }
    sources[place] = node;
    places[node] = place;
    depths[place++] = (uint8_t)depth;
  }
  *ret = (struct preorder){sources, places, depths};
}
